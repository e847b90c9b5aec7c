import RetintFiles
import RetintMLPackage
import RetintONNXProto

/// The location of a constant's elements in an external data file.
struct ExternalPlace {
    let fileName: String
    let offset: Int
    let length: Int

    var entries: [ONNXStringStringEntryProto] {
        [("location", fileName), ("offset", "\(offset)"), ("length", "\(length)")].map {
            var entry = ONNXStringStringEntryProto()
            (entry.key, entry.value) = $0
            return entry
        }
    }
}

/// An external data file with constants.
struct ExternalData {
    let file: PendingFile
    private let fileName: String
    private var end = 0

    /// Smaller constants stay in the model, where tools look for shapes and axes.
    private static let smallestSize = 1024
    /// Runtimes map the file into memory page by page.
    private static let alignment = 4096

    /// - Parameter path: that of the model; the name of the file is `model.onnx.data`.
    init(for path: some PathConvertible) throws {
        let path = path.filePath.string + ".data"
        file = try PendingFile(for: path)
        fileName = path.filePath.lastComponent?.string ?? path
    }

    /// Writes all constants but the smallest ones; returns their places by index.
    mutating func write(_ initializers: [Initializer]) throws -> [Int: ExternalPlace] {
        var places: [Int: ExternalPlace] = [:]
        for (index, initializer) in initializers.enumerated()
        where initializer.byteCount >= Self.smallestSize {
            let start = (end + Self.alignment - 1) / Self.alignment * Self.alignment
            try file.write([UInt8](repeating: 0, count: start - end))
            try initializer.value.forEachChunk { try file.write($0) }
            end = start + initializer.byteCount
            places[index] = ExternalPlace(
                fileName: fileName, offset: start, length: initializer.byteCount)
        }
        return places
    }
}
