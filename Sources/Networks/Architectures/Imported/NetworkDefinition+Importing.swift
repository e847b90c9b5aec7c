public import RetintFiles
import RetintGraph
import RetintONNXReading
public import RetintTensors

extension NetworkDefinition {
    /// A network and its weights, as read from a file.
    public struct Import: Sendable {
        /// The network.
        public let definition: NetworkDefinition
        /// The weights and running statistics by name.
        public let weights: [String: TensorData]
        /// Notes for the caller, one sentence each.
        public let notes: [String]
    }

    /// Reads a colorizer from an ONNX file: a function of one channel of lightness to the colors a
    /// and b, in one output of two channels or two of one.
    ///
    /// Weights and biases of convolutions, matrix products and normalizations become parameters,
    /// running statistics become buffers; everything else is a constant of the network.
    ///
    /// - Parameters:
    ///   - path: the file; its weights may be in external data files.
    ///   - normalization: the range of lightness and colors that the network computes with; nil
    ///     for the range stated in the file, or ``LabScaling/Normalization/inside``.
    ///   - outputs: the names of the outputs that are the colors; empty to find them by shape.
    /// - Throws: `ONNXError` for a file that is damaged, contains unsupported operations
    ///   (all of them are named), or is not a colorizer; `FileError` if it cannot be read.
    public static func importing(
        onnx path: some PathConvertible, normalization: LabScaling.Normalization? = nil,
        outputs: [String] = []
    ) throws -> Import {
        let path = path.filePath
        let model = try ONNXModel(contentsOf: path)
        return try naming(path.string) {
            try Import(model, normalization ?? model.statedNormalization, outputs)
        }
    }
}

extension NetworkDefinition.Import {
    fileprivate init(
        _ original: ONNXModel, _ normalization: LabScaling.Normalization, _ chosen: [String]
    ) throws {
        var model = original
        try model.checkInput()
        for name in chosen where !model.outputs.contains(where: { $0.name == name }) {
            let known = model.outputs.map(\.name.debugDescription).joined(separator: ", ")
            throw ONNXError(
                place: "outputs", rule: "there is none named \(name.debugDescription)",
                remedy: "Choose from \(known).")
        }
        let found = try SizeProbe(model: model, chosenOutputs: chosen).run()
        model.keepOutputs(found.outputs.names)
        model.nameParameters()
        let (network, weights) = model.separated()
        definition = NetworkDefinition(network, found.sizes, normalization, found.outputs)
        let size = try definition.bytes().count
        guard size <= NetworkDefinition.maximumBytes else {
            throw ONNXError(
                rule: "its operations and constants, without the weights, take \(size) bytes; a "
                    + "checkpoint holds up to \(NetworkDefinition.maximumBytes)",
                remedy: "Export the network without large constants.")
        }
        self.weights = weights
        notes =
            found.isSingle ? ["the network takes one image at a time: train it with batch 1"] : []
    }
}

extension ONNXModel {
    /// The range stated in files written by retint; inside for files of other programs.
    fileprivate var statedNormalization: LabScaling.Normalization {
        get throws {
            let key = NetworkDefinition.MetadataKey.normalization
            guard let text = metadata[key] else { return .inside }
            guard let value = LabScaling.Normalization(rawValue: text) else {
                throw ONNXError(
                    place: "metadata \(key)",
                    rule: "it is \(text.debugDescription), not inside or outside")
            }
            return value
        }
    }

    /// - Throws: `ONNXError` unless there is one input, which can be one channel of lightness.
    fileprivate func checkInput() throws {
        guard inputs.count == 1 else {
            let names = inputs.map(\.name.debugDescription).joined(separator: ", ")
            throw ONNXError(
                place: "inputs",
                rule: "there are \(inputs.count) (\(names)); a colorizer takes one",
                remedy: "Export the network with constants for all others, such as no hints.")
        }
        let (input, place) = (inputs[0], "input \(inputs[0].name.debugDescription)")
        guard input.type.isFloat else {
            throw ONNXError(
                place: place, rule: "its elements are \(input.type); lightness must be floats",
                remedy: "Export the network with a floating-point input.")
        }
        if metadata["retint.input"] == "image" {
            throw ONNXError(
                place: place, rule: "it is of pixels, not of lightness",
                remedy: "Export the network with a tensor as input.")
        }
        guard let extents = input.extents else { return }
        guard extents.count == 4, extents[1] ?? 1 == 1 else {
            let shape = extents.map { $0.map(String.init) ?? "?" }.joined(separator: " × ")
            throw ONNXError(
                place: place, rule: "it is \(shape), not N × 1 × H × W",
                remedy: "Export the network with one channel of lightness as its input.")
        }
    }
}
