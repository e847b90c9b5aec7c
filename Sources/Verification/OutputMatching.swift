import Models
import TensorGraph

/// A model's output beside what is expected of it.
struct OutputPair {
    let name: String
    let computed: TensorData
    let expected: TensorData
}

/// Finds for every expected output the model's: by name; by order where there is but one; a model
/// with one output each for a and b against a reference with both in one, and the other way round.
///
/// - Parameter reference: who expects them.
/// - Throws: ``VerificationError`` if an output of either side is left over, or shapes differ.
func matchOutputs(
    _ computed: [NamedTensor], of path: String, to expected: [NamedTensor],
    of reference: String
) throws -> [OutputPair] {
    let pairs = pairsByName(computed, expected) ?? pairAlone(computed, expected)
    guard let pairs, !pairs.isEmpty else {
        throw VerificationError(
            .mismatch, path: path,
            "gives \(computed.summary) where \(reference) has \(expected.summary)")
    }
    for pair in pairs where pair.computed.shape != pair.expected.shape {
        throw VerificationError(
            .mismatch, path: path, place: "output \(pair.name)",
            "has shape \(pair.computed.shape) where \(reference) has \(pair.expected.shape)")
    }
    return pairs
}

private func pairsByName(
    _ computed: [NamedTensor], _ expected: [NamedTensor]
) -> [OutputPair]? {
    let values = Dictionary(computed.map { ($0.name, $0.data) }) { first, _ in first }
    guard Set(values.keys) == Set(expected.map(\.name)) else { return nil }
    return expected.compactMap { output in
        values[output.name].map {
            OutputPair(name: output.name, computed: $0, expected: output.data)
        }
    }
}

private func pairAlone(_ computed: [NamedTensor], _ expected: [NamedTensor]) -> [OutputPair]? {
    guard let first = single(computed), let second = single(expected) else { return nil }
    return [OutputPair(name: second.name, computed: first.data, expected: second.data)]
}

/// The only output, or a and b as one.
private func single(_ outputs: [NamedTensor]) -> NamedTensor? {
    outputs.count == 1 ? outputs[0] : joinedColors(of: outputs).map { NamedTensor("ab", $0) }
}
