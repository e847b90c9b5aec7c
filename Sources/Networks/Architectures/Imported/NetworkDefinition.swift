import RetintGraph
import RetintONNXReading
package import RetintTensors

/// A network that was read from a file, without its weights.
///
/// A checkpoint of such a network contains its definition. It was read from an ONNX file, and is
/// stored as one: operations in order, with their attributes and constants.
public struct NetworkDefinition: Hashable, Sendable {
    /// The network, with one input, its colors as outputs, and parameters without elements.
    package let model: ONNXModel
    /// The sizes of photos that the network takes.
    public let sizes: InputSizes
    /// What the network itself takes and returns.
    public let form: ColorForm
    /// Which of the outputs are the colors.
    let outputs: ColorOutputs

    /// The largest size of a definition in a checkpoint, in bytes.
    package static let maximumBytes = 16 << 20

    /// - Parameters:
    ///   - model: the network. Its metadata is completed, so that its file says all of this.
    ///   - outputs: the model's outputs as colors.
    init(
        _ model: ONNXModel, _ sizes: InputSizes, _ form: ColorForm, _ outputs: ColorOutputs
    ) {
        var model = model
        model.metadata[MetadataKey.sizes] = sizes.text
        // Older versions know only a normalization, so it is written where there is one.
        model.metadata[MetadataKey.normalization] = form.normalization?.rawValue
        model.metadata[MetadataKey.form] = form.normalization == nil ? "\(form)" : nil
        // What is not stored would tell a definition from the one that is read again.
        model.untrained = []
        model.weightForms = model.weightForms.filter { !$0.value.steps.isEmpty }
        for (name, form) in model.weightForms {
            model.metadata[MetadataKey.weight + name] = "\(form)"
        }
        model.metadata[MetadataKey.outputs] = outputs.names.count == 1 ? "ab" : "a b"
        (self.model, self.sizes) = (model, sizes)
        (self.form, self.outputs) = (form, outputs)
    }

    /// Reads the definition in a checkpoint.
    ///
    /// - Throws: `ONNXError` for anything that is not the definition of a colorizer.
    package init(bytes: [UInt8]) throws {
        var model = try ONNXModel(checkpointBytes: bytes)
        for (key, text) in model.metadata where key.hasPrefix(MetadataKey.weight) {
            guard let form = WeightForm(text) else {
                throw ONNXError(
                    place: "metadata \(key)", rule: "it is \(text.debugDescription)",
                    remedy: "The checkpoint was changed after retint wrote it: import the network "
                        + "again.")
            }
            model.weightForms[String(key.dropFirst(MetadataKey.weight.count))] = form
        }
        guard let sizes = InputSizes(model.metadata), model.inputs.count == 1,
            let form = ColorForm(metadata: model.metadata),
            let outputs = ColorOutputs(model.metadata, model.outputs.map(\.name))
        else {
            throw ONNXError(
                place: "metadata", rule: "it does not say how the network is used",
                remedy: "The checkpoint was changed after retint wrote it: import the network "
                    + "again.")
        }
        self.init(model, sizes, form, outputs)
    }

    /// The definition as stored in a checkpoint; equal definitions give equal bytes.
    package func bytes() throws -> [UInt8] { try model.bytes() }

    /// Adds the network to lightness's graph: a and b, [N, 2, H, W] in −110…110, for lightness,
    /// [N, 1, H, W] in 0…100.
    ///
    /// - Throws: `ONNXError` that names the first operation that does not fit the shape.
    func colors(of lightness: Tensor) throws -> Tensor {
        form.ab(try results(of: form.networkInput(lightness)))
    }

    /// The colors as the network returns them, for what it takes; a and b are joined.
    ///
    /// - Throws: `ONNXError` that names the first operation that does not fit the shape.
    package func results(of input: Tensor) throws -> Tensor {
        let values = try model.build(
            in: input.graph, inputs: [model.inputs[0].name: .tensor(input, .float)])
        let planes = try outputs.names.map { name in
            guard case .tensor(let plane, _) = values.first(where: { $0.name == name })?.value
            else {
                throw ONNXError(
                    place: "output \(name.debugDescription)",
                    rule: "it does not depend on the input",
                    remedy: "Choose an output that is the colors of its input.")
            }
            return plane
        }
        return planes.count == 1 ? planes[0] : concat(planes, axis: 1)
    }

    /// The weights that are not as in the file, by name in order; with the operation that computes
    /// one where that cannot be undone.
    package var changedWeights: [(name: String, operation: String?)] {
        model.weightForms.sorted { $0.key < $1.key }.map { ($0.key, $0.value.irreversible) }
    }

    /// The weight of the file that gives a weight of the network; nil if it has another shape.
    package func original(of weight: TensorData, named name: String) -> TensorData? {
        guard let form = model.weightForms[name] else { return weight }
        return form.original(of: weight)
    }

    /// A size, in pixels, that was tried when the network was imported.
    package var trialSize: Pair {
        sizes.only ?? Pair(SizeProbe.side(ofMultiple: sizes.multiple))
    }

    /// ``ColorForm/normalization`` of the form.
    public var normalization: LabScaling.Normalization? { form.normalization }
}

/// A definition is encoded as the bytes that a checkpoint stores.
extension NetworkDefinition: Codable {
    /// Decodes a definition.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let bytes = try container.decode([UInt8].self)
        do {
            try self.init(bytes: bytes)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Encodes the definition.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes())
    }
}

extension NetworkDefinition {
    /// The keys of retint's entries in a model's metadata.
    package enum MetadataKey {
        /// As in packages, so that a network that retint exported says it, too.
        static let normalization = "retint.normalization"
        package static let form = "retint.form"
        static let sizes = "retint.sizes"
        /// Begins the keys of weights that are not as in the file; the name follows.
        static let weight = "retint.weight."
        static let outputs = "retint.colors"
    }
}

extension ColorForm {
    /// The form that metadata state; nil if they state none, or one that is not known.
    package init?(metadata: [String: String]) {
        if let text = metadata[NetworkDefinition.MetadataKey.form] {
            self.init(text)
            return
        }
        let text = metadata[NetworkDefinition.MetadataKey.normalization] ?? ""
        guard let normalization = LabScaling.Normalization(rawValue: text) else { return nil }
        self.init(normalization)
    }
}

extension InputSizes {
    private static let largest = 16_384

    /// `8` or `256x224` (width × height).
    fileprivate var text: String {
        switch self {
        case .multiples(let number): "\(number)"
        case .only(let height, let width): "\(width)x\(height)"
        }
    }

    fileprivate init?(_ metadata: [String: String]) {
        let sides = (metadata[NetworkDefinition.MetadataKey.sizes] ?? "").split(separator: "x")
            .map { Int($0) ?? 0 }
        guard sides.allSatisfy({ (1...Self.largest).contains($0) }) else { return nil }
        switch sides.count {
        case 1: self = .multiples(of: sides[0])
        case 2: self = .only(height: sides[1], width: sides[0])
        default: return nil
        }
    }
}

extension ColorOutputs {
    /// The names, one or those of a and b.
    package var names: [String] {
        switch self {
        case .joint(let name): [name]
        case .split(let a, let b): [a, b]
        }
    }

    /// - Parameter names: a model's outputs, a before b.
    fileprivate init?(_ metadata: [String: String], _ names: [String]) {
        switch (metadata[NetworkDefinition.MetadataKey.outputs], names.count) {
        case ("ab", 1): self = .joint(names[0])
        case ("a b", 2): self = .split(a: names[0], b: names[1])
        default: return nil
        }
    }
}
