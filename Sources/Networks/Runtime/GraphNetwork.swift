import RetintArchitectures
import RetintCheckpoints
import RetintExport
import RetintFiles
import RetintGraph
import RetintONNXReading
import RetintTensors

/// A network of ONNX's operators with the inputs and outputs of its file, whatever they are.
package struct GraphNetwork: Sendable {
    private let network: ONNXModel
    package let variables: [String: any TensorSource]
    /// The range to which pixels 0…255 of its only input for photos are converted; nil if that is a
    /// tensor.
    package private(set) var pixelRange: ValueRange?
    /// Whether the image has blue first, and the network red.
    var reversesColors = false

    /// Reads an ONNX file.
    ///
    /// - Throws: `ONNXError` for a file that is damaged or has operations that are not supported;
    ///   `FileError` if it cannot be read.
    init(contentsOf path: String) throws {
        (network, variables) = try ONNXModel(contentsOf: path).separated()
    }

    /// A network that was imported, as its file had it.
    init(_ definition: NetworkDefinition, _ variables: [String: any TensorSource]) {
        (network, self.variables) = (definition.model, variables)
    }

    /// The network of a checkpoint as its file had it; nil for retint's own networks.
    init?(_ checkpoint: CheckpointSource) {
        guard case .imported(let definition) = checkpoint.network else { return nil }
        self.init(definition, checkpoint.variables)
    }

    /// Whether it is a colorizer of retint's kind: its file says so, or one channel goes in.
    var takesLightness: Bool {
        [MetadataKey.architecture, MetadataKey.normalization, NetworkDefinition.MetadataKey.form]
            .contains { network.metadata[$0] != nil }
            || network.inputs.count == 1 && network.inputs[0].extents?.count == 4
                && network.inputs[0].extents?[1] == 1
    }

    /// The same with an image in place of its only input for photos; nil if it has none or several,
    /// or takes other photos than the range has.
    func takingImage(in range: ValueRange) -> GraphNetwork? {
        let photos = interface.inputs.filter(\.takesPhotos)
        guard photos.count == 1, photos[0].shapes.standard[0] == 1,
            range != .imageNet || photos[0].shapes.standard[1] == 3
        else { return nil }
        var other = self
        other.pixelRange = range
        return other
    }

    /// What the network takes and returns, as retint writes it into files; nil if not known.
    var statedForm: String? { network.metadata[NetworkDefinition.MetadataKey.form] }

    package var operationCount: Int { network.nodes.count }

    /// Whether values are rounded to integers.
    var quantizesValues: Bool { network.nodes.contains { $0.operation == "QuantizeLinear" } }

    /// What goes in and comes out. Open batch sizes are 1 by default, and open heights and widths
    /// of images the usual side.
    var interface: ModelInterface {
        func value(_ info: ONNXValueInfo, isInput: Bool) -> ModelInterface.Value {
            let extents = info.extents ?? []
            let standard = extents.enumerated().map { axis, extent -> Int? in
                if let extent { return extent }
                guard isInput else { return nil }
                let isSide = extents.count == 4 && axis >= 2
                return axis == 0 ? 1 : isSide ? ModelInterface.usualSide : nil
            }
            let isOpen = extents.contains(nil)
            let ranges = extents.map { extent in
                extent.map { ModelInterface.Extent($0) } ?? ModelInterface.Extent(from: 1, to: nil)
            }
            return ModelInterface.Value(
                name: info.name,
                shapes: .init(standard, isOpen ? .ranges(extents: ranges) : .fixed),
                elementType: .init(info.type))
        }
        var interface = ModelInterface(
            inputs: network.inputs.map { value($0, isInput: true) },
            outputs: network.outputs.map { value($0, isInput: false) })
        guard pixelRange != nil else { return interface }
        for index in interface.inputs.indices where interface.inputs[index].takesPhotos {
            let isGray = interface.inputs[index].shapes.standard[1] == 1
            interface.inputs[index].colorLayout =
                isGray ? .grayscale : reversesColors ? .bgr : .rgb
        }
        return interface
    }

    /// Adds the network to a graph.
    ///
    /// - Parameter inputs: the values of the inputs, by name.
    /// - Returns: the outputs, in order.
    /// - Throws: `ONNXError` that names the first operation that does not fit.
    func build(
        in graph: Graph, inputs: [(name: String, value: Tensor)]
    ) throws -> [(name: String, value: Tensor)] {
        let types = Dictionary(
            network.inputs.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        let photo = interface.inputs.first { $0.colorLayout != nil }?.name
        let values = inputs.map { name, value in
            let type = types[name] ?? .float
            var tensor = value
            if name == photo {
                if reversesColors {
                    tensor = tensor.picked((0..<tensor.shape[1]).reversed(), axis: 1)
                }
                tensor = pixelRange?.values(ofPixels: tensor) ?? tensor
            }
            // Whoever calls the model rounds to integers.
            return (name, ONNXValue.tensor(type.isFloat ? tensor : round(tensor), type))
        }
        let results = try network.build(
            in: graph, inputs: Dictionary(values, uniquingKeysWith: { first, _ in first }))
        return try results.map { name, value in
            switch value {
            case .tensor(let tensor, _): return (name, tensor)
            case .host(let constant):
                guard let floats = constant.floats, !floats.isEmpty else {
                    throw ONNXError(
                        place: "output \(name.quoted)", rule: "it is not a tensor of numbers",
                        remedy: "Export the network without it.")
                }
                let data = TensorData(shape: constant.shape, scalars: floats)
                return (name, graph.constant(data))
            }
        }
    }
}

extension ModelInterface.ElementType {
    /// Nil for texts and complex numbers.
    fileprivate init?(_ type: ONNXElementType) {
        switch type {
        case .float: self = .float32
        case .double: self = .float64
        default:
            guard let known = Self(rawValue: "\(type)") else { return nil }
            self = known
        }
    }
}
