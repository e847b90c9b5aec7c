import RetintGraph
import RetintRuntime
import RetintTensors

/// Pairs a model's values with the results of a program's operations.
///
/// Results written by retint have the names of its values. Results of a PyTorch program have
/// other names, so the values of the same type of operation and the same shape are paired in order,
/// if both sides have the same number of them.
struct IntermediateMatching {
    /// The names of the results by the indices of the model's values.
    private(set) var names: [Int: String] = [:]

    /// - Parameter images: the number of runs that share a result's first dimension.
    init(_ model: ModelProgram, _ results: [Intermediates.Value], images: Int) {
        let own = results.filter { $0.operation.hasPrefix(IntermediatesWriter.targetPrefix) }
        if own.isEmpty {
            pairByKind(model, results, images)
        } else {
            pairByName(model, own, images)
        }
    }

    private mutating func pairByName(
        _ model: ModelProgram, _ results: [Intermediates.Value], _ images: Int
    ) {
        let named = Dictionary(results.map { ($0.name, $0) }) { first, _ in first }
        for (index, (value, name)) in zip(model.values, model.uniqueNames).enumerated() {
            guard let result = named[name], value.shape.repeated(images) == result.shape
            else { continue }
            names[index] = result.name
        }
    }

    private mutating func pairByKind(
        _ model: ModelProgram, _ results: [Intermediates.Value], _ images: Int
    ) {
        let outputs = Set(model.outputIndices.compactMap { $0 })
        // If no normalization is left, it may have been folded into the convolutions.
        let isFolded = !model.values.contains { $0.operation == "batch_norm" }
        var own: [Kind: [Int]] = [:]
        for (index, operation) in operations(of: model) where !outputs.contains(index) {
            let kind = Kind(operation, model.values[index].shape.repeated(images))
            if !isFolded || !kind.isConvolution { own[kind, default: []].append(index) }
        }
        let theirs = Dictionary(grouping: results) { Kind($0.operation, $0.shape) }
        for (kind, indices) in own {
            guard let matches = theirs[kind], matches.count == indices.count else { continue }
            for (index, match) in zip(indices, matches) { names[index] = match.name }
        }
    }
}

/// The operations of a model's values, by their indices. PyTorch adds a convolution's bias in the
/// convolution; if the model adds it separately, the sum is the convolution's result.
private func operations(of model: ModelProgram) -> [(index: Int, operation: String)] {
    let values = model.values
    var operations = values.map(\.operation)
    var (isReplaced, uses) = (
        [Bool](repeating: false, count: values.count), [Int](repeating: 0, count: values.count)
    )
    for input in values.flatMap(\.inputs) { uses[input] += 1 }
    for (index, value) in values.enumerated() where value.operation == "add" {
        // The bias is not a computed value.
        guard value.inputs.count == 1, let input = value.inputs.first, uses[input] == 1,
            Kind(values[input].operation, values[input].shape).isConvolution
        else { continue }
        operations[index] = values[input].operation
        isReplaced[input] = true
    }
    return values.indices.filter { !isReplaced[$0] }.map { ($0, operations[$0]) }
}

/// The canonical type of an operation, and the shape of its result.
private struct Kind: Hashable {
    private let operation: String
    private let shape: Shape

    init(_ name: String, _ shape: Shape) {
        let plain = Self.plain(name)
        (operation, self.shape) = (Self.synonyms[plain] ?? plain, shape)
    }

    var isConvolution: Bool { operation == "convolution" }

    /// `softmax` for PyTorch's `aten._softmax.default`.
    private static func plain(_ name: String) -> String {
        let parts = name.split(separator: ".")
        let own = parts.count > 1 && parts[0] == "aten" ? parts[1] : name[...]
        return String(own.drop { $0 == "_" })
    }

    private static let synonyms = [
        "conv": "convolution", "conv2d": "convolution", "conv_transpose": "convolution",
        "conv_transpose2d": "convolution", "cat": "concat", "real_div": "div", "divide": "div",
        "upsample_bilinear": "upsample_bilinear2d", "resize_bilinear": "upsample_bilinear2d",
        "interpolate": "upsample_bilinear2d",
        "upsample_nearest_neighbor": "upsample_nearest2d", "hardtanh": "clip", "clamp": "clip",
    ]
}
