import Foundation
import RetintONNXProto
import SwiftProtobuf

extension ONNXModel {
    /// The model as the bytes of a file; equal models give equal bytes.
    ///
    /// A tensor without elements is written as one whose elements are elsewhere, without saying
    /// where: ``init(checkpointBytes:)`` reads it.
    package func bytes() throws -> [UInt8] {
        var proto = ONNXModelProto()
        proto.irVersion = opset < 21 ? 8 : 10
        var operators = ONNXOperatorSetIdProto()
        (operators.domain, operators.version) = ("", Int64(opset))
        proto.opsetImport = [operators]
        proto.producerName = producer
        proto.producerVersion = producerVersion
        proto.metadataProps = metadata.sorted { $0.key < $1.key }.map { key, value in
            var entry = ONNXStringStringEntryProto()
            (entry.key, entry.value) = (key, value)
            return entry
        }
        proto.graph = try ONNXGraphProto(self)
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        return try proto.serializedBytes(options: options)
    }
}

extension ONNXGraphProto {
    fileprivate init(_ model: ONNXModel) throws {
        self.init()
        name = "main"
        input = model.inputs.map(ONNXValueInfoProto.init)
        output = model.outputs.map(ONNXValueInfoProto.init)
        initializer = try model.initializers.sorted { $0.key < $1.key }.map { name, tensor in
            var proto = try ONNXTensorProto(tensor)
            proto.name = name
            return proto
        }
        node = try model.nodes.map(ONNXNodeProto.init)
    }
}

extension ONNXValueInfoProto {
    fileprivate init(_ value: ONNXValueInfo) {
        self.init()
        name = value.name
        type.tensorType.elemType = value.type.rawValue
        guard let dimensions = value.dimensions else { return }
        type.tensorType.shape.dim = dimensions.map { size in
            var dimension = ONNXTensorShapeProto.Dimension()
            switch size {
            case .fixed(let extent): dimension.dimValue = Int64(extent)
            case .symbolic(let name): dimension.dimParam = name
            }
            return dimension
        }
    }
}

extension ONNXNodeProto {
    fileprivate init(_ node: ONNXNode) throws {
        self.init()
        (name, opType, domain) = (node.name, node.operation, node.domain)
        (input, output) = (node.inputs, node.outputs)
        attribute = try node.attributes.sorted { $0.key < $1.key }.compactMap { name, value in
            var proto = try ONNXAttributeProto(value)
            proto?.name = name
            return proto
        }
    }
}

extension ONNXAttributeProto {
    /// Nil for a kind that no supported operation takes.
    fileprivate init?(_ value: ONNXAttribute) throws {
        self.init()
        switch value {
        case .float(let value): (type, f) = (.float, value)
        case .integer(let value): (type, i) = (.int, Int64(value))
        case .string(let text): (type, s) = (.string, Data(text.utf8))
        case .floats(let values): (type, floats) = (.floats, values)
        case .integers(let values): (type, ints) = (.ints, values.map { Int64($0) })
        case .strings(let texts): (type, strings) = (.strings, texts.map { Data($0.utf8) })
        case .tensor(let tensor): (type, t) = (.tensor, try ONNXTensorProto(tensor))
        case .other: return nil
        }
    }
}

extension ONNXTensorProto {
    fileprivate init(_ tensor: ONNXTensor) throws {
        self.init()
        dataType = tensor.type.rawValue
        dims = tensor.dimensions.map { Int64($0) }
        guard let elements = tensor.elements else {
            dataLocation = .external
            return
        }
        if let stored = tensor.type.storedType {
            rawData = Data(try elements.littleEndianBytes(as: stored, name: "constant"))
        } else {
            rawData = Data(Self.packed(tensor.integers ?? []))
        }
    }

    /// Integers of 4 bits, the lower half of a byte first.
    private static func packed(_ integers: [Int]) -> [UInt8] {
        stride(from: 0, to: integers.count, by: 2).map { index in
            let high = index + 1 < integers.count ? integers[index + 1] : 0
            return UInt8(integers[index] & 0xF) | UInt8(high & 0xF) << 4
        }
    }
}
