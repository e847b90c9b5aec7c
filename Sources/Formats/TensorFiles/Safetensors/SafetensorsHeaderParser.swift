import RetintTensors

/// Parses the JSON of a safetensors header: an object of tensors by name, and metadata.
struct SafetensorsHeaderParser {
    let path: String
    let limits: TensorFileLimits
    private(set) var entries: [SafetensorsHeader.Entry] = []
    private(set) var metadata: [String: String] = [:]
    private var keys: Set<String> = []

    init(path: String, limits: TensorFileLimits) {
        self.path = path
        self.limits = limits
    }

    mutating func parse(_ text: [UInt8]) throws(TensorFileError) {
        var cursor = JSONCursor(text, path: path)
        guard text.first == UInt8(ascii: "{") else {
            throw cursor.error("the header must begin with \"{\"")
        }
        try cursor.object { (cursor, key) throws(TensorFileError) in
            try take(key, &cursor)
        }
        cursor.skip(UInt8(ascii: " "))
        guard cursor.isAtEnd else {
            throw cursor.error("only spaces may follow the header's last brace")
        }
    }

    private mutating func take(
        _ key: String, _ cursor: inout JSONCursor
    ) throws(TensorFileError) {
        guard keys.insert(key).inserted else {
            throw cursor.error("the name \(key.debugDescription) is in the header twice")
        }
        guard key != SafetensorsHeader.metadataKey else { return try takeMetadata(&cursor) }
        guard entries.count < limits.objects else {
            throw FilePlace(path).error(
                .refused, "has more than \(limits.objects) tensors; raise the limit to read it")
        }
        entries.append(try entry(key, &cursor))
    }

    private mutating func takeMetadata(_ cursor: inout JSONCursor) throws(TensorFileError) {
        var texts: [String: String] = [:]
        try cursor.object { (cursor, key) throws(TensorFileError) in
            guard texts[key] == nil else {
                throw cursor.error("\(key.debugDescription) is in the metadata twice")
            }
            texts[key] = try cursor.string(limit: .max)
        }
        metadata = texts
    }

    private func entry(
        _ name: String, _ cursor: inout JSONCursor
    ) throws(TensorFileError) -> SafetensorsHeader.Entry {
        var fields = Fields()
        try cursor.object { (cursor, key) throws(TensorFileError) in
            try fields.take(key, &cursor)
        }
        return try fields.entry(name, FilePlace(path, name), limits)
    }
}

/// The fields of a tensor in the header.
private struct Fields {
    var type: String?
    var shape: [UInt64]?
    var offsets: [UInt64]?

    mutating func take(
        _ key: String, _ cursor: inout JSONCursor
    ) throws(TensorFileError) {
        switch key {
        case "dtype" where type == nil: type = try cursor.string()
        case "shape" where shape == nil: shape = try cursor.numbers(limit: 64)
        case "data_offsets" where offsets == nil: offsets = try cursor.numbers(limit: 2)
        case "dtype", "shape", "data_offsets":
            throw cursor.error("\(key) is duplicated")
        default:
            throw cursor.error(
                "\(key.debugDescription) is unknown; a tensor has dtype, shape and data_offsets")
        }
    }

    func entry(
        _ name: String, _ place: FilePlace, _ limits: TensorFileLimits
    ) throws(TensorFileError) -> SafetensorsHeader.Entry {
        guard let type, let shape, let offsets, offsets.count == 2 else {
            throw place.error(.damaged, "needs dtype, shape and two data_offsets")
        }
        guard let type = SafetensorsType(rawValue: type) else {
            throw place.error(.refused, "its dtype \(type.debugDescription) is unknown")
        }
        guard shape.count <= limits.rank else {
            throw place.error(
                .refused, "has \(shape.count) dimensions; the limit is \(limits.rank)")
        }
        let checked = try Shape(checked: shape, place)
        let (begin, end) = (Int(clamping: offsets[0]), Int(clamping: offsets[1]))
        let due = try byteCount(of: checked, type, place)
        guard end >= begin, end - begin == due, end < Int.max else {
            throw place.error(
                .damaged,
                "its data_offsets \(offsets) do not match the \(due) bytes of \(type.rawValue) "
                    + "\(checked)")
        }
        return SafetensorsHeader.Entry(
            name: name, type: type, shape: checked, bytes: begin..<end)
    }

    private func byteCount(
        of shape: Shape, _ type: SafetensorsType, _ place: FilePlace
    ) throws(TensorFileError) -> Int {
        let (bits, overflow) = shape.count.multipliedReportingOverflow(by: type.bitCount)
        guard !overflow else { throw place.error(.refused, "its shape \(shape) is too large") }
        guard bits.isMultiple(of: 8) else {
            throw place.error(.damaged, "\(type.rawValue) \(shape) does not fill whole bytes")
        }
        return bits / 8
    }
}
