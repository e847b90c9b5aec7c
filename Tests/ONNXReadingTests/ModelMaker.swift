import Foundation
import RetintONNXProto

/// A model made of parts, which may be wrong.
struct ModelMaker {
    var proto = ONNXModelProto()

    /// A model that computes `y` of `x`.
    init(opset: Int64 = 17, input: [Int64] = [1, 2, 4, 6]) {
        proto.irVersion = 8
        var operators = ONNXOperatorSetIdProto()
        operators.version = opset
        proto.opsetImport = [operators]
        proto.graph.name = "made"
        proto.graph.input = [Self.info("x", input)]
        proto.graph.output = [Self.info("y", nil)]
    }

    /// A model of one node, whose first input is `x`.
    static func of(
        _ operation: String, opset: Int64 = 17, input: [Int64] = [1, 2, 4, 6],
        _ constants: ONNXTensorProto..., attributes: ONNXAttributeProto...
    ) -> ModelMaker {
        var maker = ModelMaker(opset: opset, input: input)
        for constant in constants { maker.proto.graph.initializer.append(constant) }
        maker.node(operation, ["x"] + constants.map(\.name), ["y"], attributes)
        return maker
    }

    static func info(_ name: String, _ shape: [Int64]?, type: Int32 = 1) -> ONNXValueInfoProto {
        var info = ONNXValueInfoProto()
        info.name = name
        info.type.tensorType.elemType = type
        guard let shape else { return info }
        info.type.tensorType.shape.dim = shape.map { extent in
            var dimension = ONNXTensorShapeProto.Dimension()
            dimension.dimValue = extent
            return dimension
        }
        return info
    }

    @discardableResult
    mutating func node(
        _ operation: String, _ inputs: [String], _ outputs: [String],
        _ attributes: [ONNXAttributeProto] = []
    ) -> Int {
        proto.graph.node.append(Self.node(operation, inputs, outputs, attributes))
        return proto.graph.node.count - 1
    }

    static func node(
        _ operation: String, _ inputs: [String], _ outputs: [String],
        _ attributes: [ONNXAttributeProto] = []
    ) -> ONNXNodeProto {
        var node = ONNXNodeProto()
        (node.opType, node.input, node.output) = (operation, inputs, outputs)
        (node.name, node.attribute) = ("the \(operation)", attributes)
        return node
    }

    func data() throws -> Data { try proto.serializedBytes() }

    func write(to path: String) throws { try data().write(to: URL(filePath: path)) }
}

extension ONNXTensorProto {
    static func floats(_ name: String, _ values: [Float], _ dimensions: [Int64]? = nil) -> Self {
        var tensor = Self()
        (tensor.name, tensor.dataType, tensor.floatData) = (name, 1, values)
        tensor.dims = dimensions ?? [Int64(values.count)]
        return tensor
    }

    static func integers(
        _ name: String, _ values: [Int64], _ dimensions: [Int64]? = nil
    ) -> Self {
        var tensor = Self()
        (tensor.name, tensor.dataType, tensor.int64Data) = (name, 7, values)
        tensor.dims = dimensions ?? [Int64(values.count)]
        return tensor
    }

    /// Floats in a file beside the model.
    static func external(
        _ name: String, _ dimensions: [Int64], location: String, offset: String? = nil,
        length: String? = nil
    ) -> Self {
        var tensor = Self()
        (tensor.name, tensor.dataType, tensor.dims) = (name, 1, dimensions)
        tensor.dataLocation = .external
        let entries = [("location", location), ("offset", offset), ("length", length)]
        tensor.externalData = entries.compactMap { key, value in
            guard let value else { return nil }
            var entry = ONNXStringStringEntryProto()
            (entry.key, entry.value) = (key, value)
            return entry
        }
        return tensor
    }
}

extension ONNXAttributeProto {
    static func integer(_ name: String, _ value: Int64) -> Self {
        var attribute = Self()
        (attribute.name, attribute.type, attribute.i) = (name, .int, value)
        return attribute
    }

    static func integers(_ name: String, _ values: [Int64]) -> Self {
        var attribute = Self()
        (attribute.name, attribute.type, attribute.ints) = (name, .ints, values)
        return attribute
    }

    static func float(_ name: String, _ value: Float) -> Self {
        var attribute = Self()
        (attribute.name, attribute.type, attribute.f) = (name, .float, value)
        return attribute
    }

    static func string(_ name: String, _ value: String) -> Self {
        var attribute = Self()
        (attribute.name, attribute.type, attribute.s) = (name, .string, Data(value.utf8))
        return attribute
    }

    static func graph(_ name: String, _ graph: ONNXGraphProto) -> Self {
        var attribute = Self()
        (attribute.name, attribute.type, attribute.g) = (name, .graph, graph)
        return attribute
    }
}
