import RetintFiles
import SystemPackage

extension MLPackage {
    /// Refuses a single `.mlmodel` file that contains anything other than a neural network.
    package static func requireNeuralNetwork(
        at path: some PathConvertible
    ) throws(MLPackageError) {
        do {
            let kind = try ModelFileKind(at: path.filePath)
            if !kind.isNeuralNetwork { throw kind.refusal }
        } catch {
            throw MLPackageError(error, file: path.filePath.string, remedy: "Check the path.")
        }
    }
}

/// The contents of a single `.mlmodel` file: its fields are skipped, not read.
struct ModelFileKind {
    private var version: UInt64?
    private var kind: String?
    fileprivate var isNeuralNetwork: Bool { kind?.hasPrefix("neural network") ?? false }

    /// The kinds of model that the format numbers, by their field.
    private static let kinds: [UInt64: String] = [
        200: "pipeline for classification", 201: "pipeline for regression", 202: "pipeline",
        300: "generalized linear regressor", 301: "support vector regressor",
        302: "tree ensemble for regression", 303: "neural network for regression",
        400: "generalized linear classifier", 401: "support vector classifier",
        402: "tree ensemble for classification", 403: "neural network for classification",
        500: "neural network", 502: "ML Program", 3000: "serialized model",
    ]
    /// Real files have five fields.
    private static let maximumFields = 64

    init(at path: FilePath) throws {
        let file = try RegularFile(path.string, followingLinks: false)
        var offset = 0
        for _ in 0..<Self.maximumFields where offset < file.byteCount {
            guard let field = try Field(file, at: offset) else { return }
            if field.number == 1 { version = field.value }
            if let name = Self.kinds[field.number] { kind = name }
            offset = field.end
        }
    }

    /// Why such a file is refused.
    var refusal: BrokenRule {
        guard let kind else {
            return BrokenRule(
                "", "it is not a Core ML model", "The file is damaged: copy or convert it again.")
        }
        let stated = version.map { " of specification version \($0)" } ?? ""
        guard kind != "ML Program" else {
            return BrokenRule(
                "", "a single .mlmodel file\(stated) with an ML Program lacks its weights",
                "Give the .mlpackage folder that it belongs to.")
        }
        return BrokenRule(
            "", "a single .mlmodel file\(stated) contains a \(kind), not an ML Program",
            isNeuralNetwork
                ? "Read it as a .mlmodel, or convert the network again to an .mlpackage."
                : "Convert the network again to an .mlpackage for iOS15 or later.")
    }
}

extension ModelFileKind {
    /// A field of a protocol buffer: its number, and its value if that is an integer.
    private struct Field {
        let number: UInt64
        let value: UInt64?
        let end: Int

        /// - Returns: nil if no field starts there.
        init?(_ file: RegularFile, at offset: Int) throws {
            let bytes = try file.bytes(at: offset, count: min(20, file.byteCount - offset))
            var position = 0
            guard let tag = Self.integer(bytes, &position),
                let value = Self.integer(bytes, &position)
            else { return nil }
            number = tag >> 3
            switch tag & 7 {
            case 0: (self.value, end) = (value, offset + position)
            case 2:
                guard let count = Int(exactly: value),
                    count <= file.byteCount - offset - position
                else { return nil }
                (self.value, end) = (nil, offset + position + count)
            default: return nil
            }
        }

        private static func integer(_ bytes: [UInt8], _ position: inout Int) -> UInt64? {
            var result: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 63, by: 7) where position < bytes.count {
                let byte = bytes[position]
                position += 1
                result |= UInt64(byte & 0x7F) << shift
                if byte & 0x80 == 0 { return result }
            }
            return nil
        }
    }
}
