import RetintFiles

/// Writes a safetensors file as the reference implementation does: tensors by decreasing alignment,
/// then by name; the header padded with spaces to a multiple of eight bytes. Equal tensors give
/// equal bytes.
struct SafetensorsWriter {
    private let path: String
    private let tensors: [(name: String, tensor: StoredTensor)]
    private let header: [UInt8]

    /// Sorts the tensors and creates the header.
    ///
    /// - Parameter metadata: The texts for `__metadata__`.
    init(
        path: String, _ dict: StateDict, metadata: [String: String]
    ) throws(TensorFileError) {
        self.path = path
        tensors = dict.map { ($0, $1) }.sorted(by: Self.comesFirst)
        let names = tensors.map(\.name)
        guard !names.contains(SafetensorsHeader.metadataKey) else {
            throw FilePlace(path, SafetensorsHeader.metadataKey).error(
                .unwritable, "is not a name that a tensor can have")
        }
        header = Self.header(tensors, metadata)
        guard header.count <= SafetensorsHeader.longest else {
            throw FilePlace(path).error(
                .unwritable,
                "its header of \(header.count) bytes exceeds the format's "
                    + "\(SafetensorsHeader.longest)")
        }
    }

    /// Writes the file; an existing one is replaced once the new one is complete.
    func write() throws(TensorFileError) {
        let file = try PendingFile.start(path)
        try (Self.lengthBytes(header.count) + header).withBytes(file.append)
        for (name, tensor) in tensors {
            try ElementEncoding(type: tensor.storedType).withBytes(
                of: tensor.elements, at: FilePlace(path, name), file.append)
        }
        try file.finish()
    }

    private static func lengthBytes(_ count: Int) -> [UInt8] {
        (0..<SafetensorsHeader.lengthBytes).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }

    private static func comesFirst(
        _ left: (name: String, tensor: StoredTensor),
        _ right: (name: String, tensor: StoredTensor)
    ) -> Bool {
        let ranks = [left, right].map { SafetensorsType($0.tensor.storedType).rank }
        guard ranks[0] == ranks[1] else { return ranks[0] > ranks[1] }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}

/// The header's text.
extension SafetensorsWriter {
    private static func header(
        _ tensors: [(name: String, tensor: StoredTensor)], _ metadata: [String: String]
    ) -> [UInt8] {
        var members: [String] = []
        if !metadata.isEmpty {
            let texts = metadata.sorted { $0.key < $1.key }.map { "\(json($0)):\(json($1))" }
            let object = "{\(texts.joined(separator: ","))}"
            members.append("\(json(SafetensorsHeader.metadataKey)):\(object)")
        }
        var end = 0
        for (name, tensor) in tensors {
            let begin = end
            end += tensor.shape.count * tensor.storedType.byteCount
            let type = SafetensorsType(tensor.storedType).rawValue
            let shape = tensor.shape.dimensions.map(String.init).joined(separator: ",")
            members.append(
                "\(json(name)):{\"dtype\":\"\(type)\",\"shape\":[\(shape)],"
                    + "\"data_offsets\":[\(begin),\(end)]}")
        }
        let text = Array("{\(members.joined(separator: ","))}".utf8)
        return text + [UInt8](repeating: UInt8(ascii: " "), count: -text.count & 7)
    }

    /// A string in quotes.
    private static func json(_ text: String) -> String {
        "\"" + text.unicodeScalars.map(escaped).joined() + "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\u{8}": return "\\b"
        case "\u{c}": return "\\f"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            guard scalar.value < 0x20 else { return String(scalar) }
            return scalar.value < 0x10 ? "\\u000\(hex(scalar))" : "\\u00\(hex(scalar))"
        }
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String {
        String(scalar.value, radix: 16)
    }
}
