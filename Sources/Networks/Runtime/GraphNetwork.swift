import RetintExport
import RetintFiles
import RetintGraph
import RetintONNXReading
import RetintTensors

/// A network of ONNX's operators with the inputs and outputs of its file, whatever they are.
package struct GraphNetwork: Sendable {
    private let network: ONNXModel
    private let weights: [String: TensorData]

    /// Reads an ONNX file.
    ///
    /// - Throws: `ONNXError` for a file that is damaged or has operations that are not supported;
    ///   `FileError` if it cannot be read.
    init(contentsOf path: String) throws {
        (network, weights) = try ONNXModel(contentsOf: path).separated()
    }

    /// Whether it is a colorizer of retint's kind: its file says so, or one channel goes in.
    var takesLightness: Bool {
        network.metadata.keys.contains { $0.hasPrefix("retint.") }
            || network.inputs.count == 1 && network.inputs[0].extents?.count == 4
                && network.inputs[0].extents?[1] == 1
    }

    package var operationCount: Int { network.nodes.count }

    package var variables: [String: any TensorSource] { weights }

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
        return ModelInterface(
            inputs: network.inputs.map { value($0, isInput: true) },
            outputs: network.outputs.map { value($0, isInput: false) })
    }

    /// Adds the network to a graph.
    ///
    /// - Returns: the outputs, in order.
    /// - Throws: `ONNXError` that names the first operation that does not fit.
    func build(
        in graph: Graph, inputs: [(name: String, shape: Shape)]
    ) throws -> [(name: String, value: Tensor)] {
        let types = Dictionary(
            network.inputs.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        let values = inputs.map { input in
            let type = types[input.name] ?? .float
            let tensor = graph.input(input.name, input.shape)
            // Whoever calls the model rounds to integers.
            return (input.name, ONNXValue.tensor(type.isFloat ? tensor : round(tensor), type))
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
