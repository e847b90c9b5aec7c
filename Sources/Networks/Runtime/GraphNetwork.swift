import RetintArchitectures
import RetintCheckpoints
import RetintExport
import RetintFiles
import RetintGraph
import RetintMLPackage
import RetintONNXReading
import RetintTensors

/// A network of ONNX's operators with the inputs and outputs of its file, whatever they are.
package struct GraphNetwork: Sendable {
    private let network: ONNXModel
    package let variables: [String: any TensorSource]
    /// The range to which pixels 0…255 of images are converted; nil if all inputs are tensors.
    package private(set) var pixelRange: ValueRange?
    /// The inputs that are images.
    private var images: Set<String> = []
    /// The images whose colors are in the other order than the network's.
    private var reversedImages: Set<String> = []
    /// The outputs that are compared with images: their values become pixels.
    private var imageOutputs: Set<String> = []
    /// The range of those values.
    private var resultRange: ValueRange?
    /// The height and width of photos at which the network runs, where its file leaves them open.
    private let side: OpenSide

    /// Reads an ONNX file.
    ///
    /// - Throws: `ONNXError` for a file that is damaged or has operations that are not supported;
    ///   `FileError` if it cannot be read.
    init(contentsOf path: String) throws {
        let (network, variables) = try ONNXModel(contentsOf: path).separated()
        self.init(network, variables)
    }

    /// A network that was imported, as its file had it.
    init(_ definition: NetworkDefinition, _ variables: [String: any TensorSource]) {
        self.init(definition.model, variables)
    }

    private init(_ network: ONNXModel, _ variables: [String: any TensorSource]) {
        (self.network, self.variables) = (network, variables)
        side = OpenSide(of: network)
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

    /// The same with images in place of some inputs for photos.
    ///
    /// - Parameter names: of the inputs; nil for the only one that takes photos.
    /// - Returns: nil if one takes no photo, or other photos than the range has.
    func takingImages(_ names: [String]?, in range: ValueRange) -> GraphNetwork? {
        let photos = interface.inputs.filter { input in
            input.takesPhotos && input.shapes.standard[0] == 1
                && (range != .imageNet || input.shapes.standard[1] == 3)
        }
        .map(\.name)
        guard let names = names ?? (photos.count == 1 ? photos : nil),
            names.allSatisfy(photos.contains)
        else { return nil }
        var other = self
        (other.pixelRange, other.images) = (range, Set(names))
        return other
    }

    /// The same with pixels in place of the values of some outputs.
    ///
    /// - Parameter range: of these values.
    func returningImages(_ names: [String], in range: ValueRange) -> GraphNetwork {
        var other = self
        (other.imageOutputs, other.resultRange) = (Set(names), range)
        return other
    }

    /// The same with the colors of images in the other order.
    func reversingColors(of names: [String]) -> GraphNetwork {
        var other = self
        other.reversedImages.formSymmetricDifference(names)
        return other
    }

    /// Whether the file says in which ranges it takes lightness and returns colors.
    var statesForm: Bool {
        [MetadataKey.normalization, NetworkDefinition.MetadataKey.form]
            .contains { network.metadata[$0] != nil }
    }

    /// What the network takes and returns, as retint writes it into files; nil if not known.
    var formText: String? { network.metadata[NetworkDefinition.MetadataKey.form] }

    package var operationCount: Int { network.nodes.count }

    /// Whether weights or values are stored as integers.
    var isQuantized: Bool {
        network.nodes.contains { ["QuantizeLinear", "DequantizeLinear"].contains($0.operation) }
    }

    /// Whether weights are in half precision.
    var holdsHalf: Bool {
        network.initializers.values.contains { [.float16, .bfloat16].contains($0.type) }
    }

    /// What goes in and comes out. Open batch sizes are 1 by default, and open heights and widths
    /// of images the usual side.
    var interface: ModelInterface {
        func value(_ info: ONNXValueInfo, isInput: Bool) -> ModelInterface.Value {
            let extents = info.extents ?? []
            let standard = extents.enumerated().map { axis, extent -> Int? in
                if let extent { return extent }
                guard isInput else { return nil }
                let isSide = extents.count == 4 && axis >= 2
                return axis == 0 ? 1 : isSide ? side.standard : nil
            }
            let isOpen = extents.contains(nil)
            let ranges = extents.enumerated().map { axis, extent in
                let only = axis >= 2 && isInput && extents.count == 4 ? side.only : nil
                return (extent ?? only).map { ModelInterface.Extent($0) }
                    ?? ModelInterface.Extent(from: 1, to: nil)
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
        for (index, input) in interface.inputs.enumerated() where images.contains(input.name) {
            let isGray = input.shapes.standard[1] == 1
            interface.inputs[index].colorLayout =
                isGray
                ? .grayscale
                : reversedImages.contains(input.name) != takesBlueFirst(input.name) ? .bgr : .rgb
        }
        return interface
    }

    /// Whether a file that was made of a package says that its tensor has blue first.
    private func takesBlueFirst(_ name: String) -> Bool {
        let names = network.metadata[MLPackage.blueFirstKey] ?? ""
        return names.split(separator: " ").contains { $0 == name }
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
        let values = inputs.map { name, value in
            let type = types[name] ?? .float
            var tensor = value
            if images.contains(name) {
                if reversedImages.contains(name) {
                    tensor = tensor.picked((0..<tensor.shape[1]).reversed(), axis: 1)
                }
                tensor = pixelRange?.values(ofPixels: tensor) ?? tensor
            }
            // Whoever calls the model rounds to integers.
            return (name, ONNXValue.tensor(type.isFloat ? tensor : round(tensor), type))
        }
        let others = network.inputs.filter { input in
            let shape = inputs.first { $0.name == input.name }?.value.shape.dimensions ?? []
            return input.extents.map { extents in
                extents.count == shape.count
                    && zip(extents, shape).contains { $0 != nil && $0 != $1 }
            } ?? false
        }
        let remedy =
            side.isUnknown
            ? ONNXModel.openSizes
            : others.isEmpty
                ? nil
                : "The file states "
                    + others.map { "\($0.name) \($0.extents?.text ?? "")" }.joined(separator: ", ")
                    + ": use that size, or export the network with sizes left open."
        let results = try ONNXModel.explainingDamage(by: remedy) {
            try network.build(
                in: graph, inputs: Dictionary(values, uniquingKeysWith: { first, _ in first }))
        }
        return try results.map { name, value in
            switch value {
            case .tensor(let tensor, _):
                guard imageOutputs.contains(name) else { return (name, tensor) }
                return (name, resultRange?.pixels(ofValues: tensor) ?? tensor)
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

/// The height and width of photos at which a network runs that leaves them open. Exporters leave
/// sizes open also where the network was traced for a single one.
private struct OpenSide {
    private(set) var standard = ModelInterface.usualSide
    /// The only side, as far as was tried; nil if there are others, or none was found.
    private(set) var only: Int?
    /// Whether it ran at none of the sides that were tried.
    private(set) var isUnknown = false

    init(of network: ONNXModel) {
        let isOpen = network.inputs.contains { input in
            input.extents?.count == 4 && input.extents?[2...].contains(nil) ?? false
        }
        guard isOpen, !Self.runs(network, standard) else { return }
        guard let side = SizeProbe.sides(for: network).first(where: { Self.runs(network, $0) })
        else {
            isUnknown = true
            return
        }
        standard = side
        if !Self.runs(network, 2 * side) { only = side }
    }

    private static func runs(_ network: ONNXModel, _ side: Int) -> Bool {
        let graph = Graph(mode: .inference)
        let values = network.inputs.compactMap { input -> (String, ONNXValue)? in
            guard let extents = input.extents else { return nil }
            let isPhoto = extents.count == 4
            let shape = extents.enumerated().map { axis, extent in
                extent ?? (isPhoto && axis >= 2 ? side : 1)
            }
            let tensor = graph.input(input.name, Shape(shape))
            return (input.name, .tensor(tensor, input.type))
        }
        let inputs = Dictionary(values, uniquingKeysWith: { first, _ in first })
        return (try? network.build(in: graph, inputs: inputs)) != nil && graph.error == nil
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

extension [Int?] {
    /// `[1, 3, ?, 64]`.
    fileprivate var text: String {
        "[\(map { $0.map(String.init) ?? "?" }.joined(separator: ", "))]"
    }
}
