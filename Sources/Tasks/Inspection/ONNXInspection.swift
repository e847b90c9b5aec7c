import RetintCheckpoints
import RetintDeviceRules
import RetintFiles
import RetintONNXReading

/// The contents of an ONNX file.
public struct ONNXInspection: Encodable, Sendable {
    /// An input or output.
    public struct Value: Encodable, Sendable {
        /// Its name.
        public let name: String
        /// ONNX's name of the element type in lower case: `float`, `float16`.
        public let type: String
        /// The dimensions, each a number or a name; nil if the file states no shape.
        public let shape: [String]?

        init(_ value: ONNXValueInfo) {
            (name, type) = (value.name, "\(value.type)")
            shape = value.dimensions?.map { dimension in
                switch dimension {
                case .fixed(let extent): "\(extent)"
                case .symbolic(let name): name.isEmpty ? "?" : name
                }
            }
        }
    }

    /// `onnx`.
    public let kind = ModelFormat.onnx.kind
    /// The path of the file, as the caller gave it.
    public let file: String
    /// The opset version.
    public let opset: Int
    /// The program that wrote the file.
    public let producer: String
    /// What the exporter that the file states is known to export wrongly, and may have exported
    /// here.
    public let converterFaults: [ConverterFinding]
    /// The inputs that are not weights, in the file's order.
    public let inputs: [Value]
    /// The outputs, in the file's order.
    public let outputs: [Value]
    /// The number of operations of each type.
    public let operations: [String: Int]
    /// The types of operations that retint does not support, sorted.
    public let unsupported: [String]
    /// The weights and constants, by name.
    public let tensors: [TensorInspection]
    /// The number of elements of all ``tensors``.
    public let totalElements: Int
    /// The metadata texts of the file, by key.
    public let metadata: [String: String]

    init(path: String) throws {
        let model = try ONNXModel(describing: path)
        file = path
        (opset, producer, metadata) = (model.opset, model.producer, model.metadata)
        converterFaults = model.converterFaults
        inputs = model.inputs.map(Value.init)
        outputs = model.outputs.map(Value.init)
        let titles = model.nodes.map { ($0.operationTitle, 1) }
        operations = Dictionary(titles, uniquingKeysWith: +)
        let refused = model.nodes.filter { !ONNXModel.supports($0) }.map(\.operationTitle)
        unsupported = Set(refused).sorted()
        tensors = model.initializers.sorted { $0.key < $1.key }.map { name, tensor in
            TensorInspection(
                name: name, extents: tensor.dimensions, type: "\(tensor.type)",
                bytes: tensor.type.byteCount(of: tensor.count))
        }
        totalElements = tensors.elements
    }
}
