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

/// a and b, [N, 2, H, W]: the only output, or two [N, 1, H, W] whose names end in a and b.
func joinedColors(of outputs: [NamedTensor]) -> TensorData? {
    if outputs.count == 1 { return outputs[0].data.isColor ? outputs[0].data : nil }
    guard outputs.count == 2, let a = outputs.first(where: { $0.name.hasSuffix("a") })?.data,
        let b = outputs.first(where: { $0.name.hasSuffix("b") })?.data,
        a.shape == b.shape, a.shape.rank == 4, a.shape[1] == 1
    else { return nil }
    return joined(a, b)
}

extension TensorData {
    fileprivate var isColor: Bool { shape.rank == 4 && shape[1] == 2 }
}

private func joined(_ a: TensorData, _ b: TensorData) -> TensorData {
    let area = a.shape[2] * a.shape[3]
    let scalars = (0..<a.shape[0]).flatMap { picture in
        let range = picture * area..<(picture + 1) * area
        return a.scalars[range] + b.scalars[range]
    }
    return TensorData(shape: [a.shape[0], 2, a.shape[2], a.shape[3]], scalars: scalars)
}
