import RetintFiles
import RetintMLPackage
import RetintONNXProto
import SwiftProtobuf

/// Writes a model piece by piece: constants are read one at a time, so that a large model
/// need not fit in memory.
struct ModelFile {
    let model: ONNXModelProto
    let initializers: [Initializer]
    /// Where constants are that are not in this file, by their index.
    var externalPlaces: [Int: ExternalPlace] = [:]

    /// Writes the parts of the model in any order, as the format allows.
    func write(to file: PendingFile) throws {
        var header = model
        header.clearGraph()
        try file.write(header.serializedBytes())
        let graph: [UInt8] = try model.graph.serializedBytes()
        let heads = try initializers.indices.map { try head($0) }
        let size = heads.reduce(graph.count) { $0 + $1.fieldSize }
        try file.write(Wire.head(Self.graphField, size: size) + graph)
        for (initializer, head) in zip(initializers, heads) {
            try file.write(Wire.head(Self.initializerField, size: head.size) + head.bytes)
            guard head.elementCount > 0 else { continue }
            try initializer.value.forEachChunk { try file.write($0) }
        }
    }

    private static let (graphField, initializerField, elementsField) = (7, 5, 9)

    /// A constant up to its elements.
    private struct Head {
        let bytes: [UInt8]
        /// The bytes of elements that follow.
        let elementCount: Int
        var size: Int { bytes.count + elementCount }
        var fieldSize: Int { Wire.head(ModelFile.initializerField, size: size).count + size }
    }

    private func head(_ index: Int) throws -> Head {
        let initializer = initializers[index]
        var tensor = ONNXTensorProto()
        tensor.name = initializer.name
        tensor.dims = (initializer.value.type.shape ?? []).map { Int64($0) }
        tensor.dataType = Int32(initializer.value.type.dataType.onnxType?.rawValue ?? 0)
        if let place = externalPlaces[index] {
            tensor.dataLocation = .external
            tensor.externalData = place.entries
            return Head(bytes: try tensor.serializedBytes(), elementCount: 0)
        }
        let count = initializer.byteCount
        return Head(
            bytes: try tensor.serializedBytes() + Wire.head(Self.elementsField, size: count),
            elementCount: count)
    }
}

/// Fields of bytes in Protocol Buffers' encoding.
private enum Wire {
    /// The bytes before a field's contents.
    static func head(_ field: Int, size: Int) -> [UInt8] {
        varint(field << 3 | 2) + varint(size)
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var (rest, bytes) = (UInt64(value), [UInt8]())
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

extension Initializer {
    /// The size of the elements in the file.
    var byteCount: Int { value.type.byteCount ?? 0 }
}
