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

    /// Reads a colorizer from an ONNX file: a function of a photo without its colors, as lightness
    /// or in gray, to the colors.
    ///
    /// Weights and biases of convolutions, matrix products and normalizations become parameters,
    /// running statistics become buffers; everything else is a constant of the network.
    ///
    /// - Parameters:
    ///   - path: the file; its weights may be in external data files.
    ///   - form: what the network takes and returns, as far as the file does not state it, and it
    ///     does not follow from the numbers of channels.
    ///   - outputs: the names of the outputs that are the colors; empty to find them by shape.
    /// - Throws: `ONNXError` for a file that is damaged, contains unsupported operations
    ///   (all of them are named), or is not a colorizer; `FileError` if it cannot be read.
    public static func importing(
        onnx path: some PathConvertible, form: ColorFormChoice = .init(), outputs: [String] = []
    ) throws -> Import {
        let path = path.filePath
        let model = try ONNXModel(contentsOf: path)
        return try naming(path.string) {
            try Import(model, form, outputs)
        }
    }
}

extension NetworkDefinition.Import {
    fileprivate init(
        _ original: ONNXModel, _ choice: ColorFormChoice, _ chosen: [String]
    ) throws {
        var model = original
        let stated = try model.statedForm
        let form = choice.applied(to: stated ?? model.usualForm)
        guard form.isPossible else {
            throw ONNXError(
                rule: "\(form) is not possible: imagenet is a range of a photo that goes in",
                remedy: "State other ranges.")
        }
        try model.checkInput(form)
        for name in chosen where !model.outputs.contains(where: { $0.name == name }) {
            let known = model.outputs.map(\.name.debugDescription).joined(separator: ", ")
            throw ONNXError(
                place: "outputs", rule: "there is none named \(name.debugDescription)",
                remedy: "Choose from \(known).")
        }
        let found = try SizeProbe(
            model: model, form: form,
            alternative: stated == nil ? choice.withPhoto(form) : nil, chosenOutputs: chosen
        ).run()
        model.keepOutputs(found.outputs.names)
        model.nameParameters()
        let (network, weights) = model.separated()
        definition = NetworkDefinition(network, found.sizes, found.form, found.outputs)
        let size = try definition.bytes().count
        guard size <= NetworkDefinition.maximumBytes else {
            throw ONNXError(
                rule: "its operations and constants, without the weights, take \(size) bytes; a "
                    + "checkpoint holds up to \(NetworkDefinition.maximumBytes)",
                remedy: "Export the network without large constants.")
        }
        self.weights = weights
        // Names that the exporter made up are not those of a module's parameters.
        let untrained = model.untrained.filter { !$0.hasPrefix("onnx::") && !$0.hasPrefix("/") }
        let shared = model.sharedParameters
        let isWhole = choice.input != nil && choice.colors != nil
        let isAssumed = stated == nil && !isWhole && found.form != .inside
        notes =
            (found.isSingle
                ? [
                    "the network takes one image at a time: train it with batch 1, or export it "
                        + "with a dynamic batch and size (dynamic_axes of torch.onnx.export)"
                ] : [])
            + (untrained.isEmpty
                ? []
                : [
                    "kept as constants, which are not trained and not in the weights: "
                        + untrained.listed(8)
                ])
            + (shared.isEmpty
                ? []
                : [
                    "used by several operations, which training changes together: "
                        + shared.listed(8)
                        + "; torch.onnx.export merges weights that are equal, as those of "
                        + "normalizations in a new network"
                ])
            + (isAssumed ? ["assumed, where nothing states it: \(found.form)"] : [])
    }
}

extension ColorFormChoice {
    /// The form of a network that returns a photo; nil if other colors are stated.
    fileprivate func withPhoto(_ form: ColorForm) -> ColorForm? {
        guard colors == nil else { return nil }
        var choice = self
        choice.colors = .rgb
        return choice.applied(to: form)
    }
}

extension ONNXModel {
    /// The form stated in files written by retint; nil for files of other programs.
    fileprivate var statedForm: ColorForm? {
        get throws {
            let keys = [
                NetworkDefinition.MetadataKey.form, NetworkDefinition.MetadataKey.normalization,
            ]
            guard let key = keys.first(where: { metadata[$0] != nil }) else { return nil }
            guard let form = ColorForm(metadata: metadata) else {
                let known =
                    key == keys[0]
                    ? "a form such as gray-rgb 0..1 ab -110..110" : "inside or outside"
                throw ONNXError(
                    place: "metadata \(key)",
                    rule: "it is \(metadata[key]?.debugDescription ?? "missing"), not \(known)")
            }
            return form
        }
    }

    /// The usual form for the number of channels that the file states.
    fileprivate var usualForm: ColorForm {
        let channels = inputs.first?.extents.flatMap { $0.count == 4 ? $0[1] : nil }
        return channels == 3 ? ColorForm(input: .grayRGB) : .inside
    }

    /// - Throws: `ONNXError` unless there is one input, which can be what the form states.
    fileprivate func checkInput(_ form: ColorForm) throws {
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
                place: place, rule: "its elements are \(input.type); a photo must be floats",
                remedy: "Export the network with a floating-point input.")
        }
        if metadata["retint.input"] == "image" {
            throw ONNXError(
                place: place, rule: "it is of pixels, not of lightness",
                remedy: "Export the network with a tensor as input.")
        }
        guard let extents = input.extents else { return }
        let channels = form.input.channels
        guard extents.count == 4, extents[1] ?? channels == channels else {
            let shape = extents.map { $0.map(String.init) ?? "?" }.joined(separator: " × ")
            throw ONNXError(
                place: place, rule: "it is \(shape), not N × \(channels) × H × W",
                remedy: "Export the network with one channel of lightness, or three of a gray "
                    + "photo, as its input.")
        }
    }
}
