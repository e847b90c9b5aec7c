import RetintGraph
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// A model's output and the expected one.
struct OutputPair {
    let name: String
    let computed: TensorData
    let expected: TensorData
}

/// Finds the model's output for each expected one.
///
/// Outputs are matched by name, or by its legal form in a package. A single output matches a single
/// output of another name, and one output for a and b matches a pair of outputs, in either
/// direction. Several outputs of which no two have a name in common are matched in order, if their
/// shapes are the same.
///
/// - Parameters:
///   - path: the model's name, for errors.
///   - reference: the reference's name, for errors.
/// - Throws: ``VerificationError`` if an output on either side has no counterpart, or
///   shapes differ.
func matchOutputs(
    _ computed: [NamedTensor], of path: String, to expected: [NamedTensor],
    of reference: String
) throws -> [OutputPair] {
    let pairs =
        pairsByName(computed, expected) ?? singlePair(computed, expected)
        ?? pairsInOrder(computed, expected)
    guard let pairs, !pairs.isEmpty else {
        throw VerificationError(
            .mismatch, path: path,
            "has outputs \(computed.summary), but \(reference) has \(expected.summary)")
    }
    for pair in pairs where pair.computed.shape != pair.expected.shape {
        throw VerificationError(
            .mismatch, path: path, place: "output \(pair.name)",
            "has shape \(pair.computed.shape), but \(reference) has \(pair.expected.shape)")
    }
    return pairs
}

private func pairsByName(
    _ computed: [NamedTensor], _ expected: [NamedTensor]
) -> [OutputPair]? {
    func byName(_ name: (String) -> String) -> [String: TensorData]? {
        let values = Dictionary(computed.map { (name($0.name), $0.data) }) { first, _ in first }
        let isComplete = Set(values.keys) == Set(expected.map { name($0.name) })
        return isComplete && values.count == expected.count ? values : nil
    }
    let exact = byName { $0 }
    guard let values = exact ?? byName(MILNames.legal) else { return nil }
    return expected.compactMap { output in
        values[exact == nil ? MILNames.legal(output.name) : output.name].map {
            OutputPair(name: output.name, computed: $0, expected: output.data)
        }
    }
}

private func singlePair(_ computed: [NamedTensor], _ expected: [NamedTensor]) -> [OutputPair]? {
    guard let first = single(computed), let second = single(expected) else { return nil }
    return [OutputPair(name: second.name, computed: first.data, expected: second.data)]
}

private func pairsInOrder(
    _ computed: [NamedTensor], _ expected: [NamedTensor]
) -> [OutputPair]? {
    let names = Set(computed.map { MILNames.legal($0.name) })
    guard names.isDisjoint(with: expected.map { MILNames.legal($0.name) }),
        computed.map(\.data.shape) == expected.map(\.data.shape)
    else { return nil }
    return zip(computed, expected).map { own, other in
        OutputPair(name: other.name, computed: own.data, expected: other.data)
    }
}

/// The only output, or a and b joined.
private func single(_ outputs: [NamedTensor]) -> NamedTensor? {
    outputs.count == 1 ? outputs[0] : joinedColors(of: outputs).map { NamedTensor("ab", $0) }
}
