import RetintFiles
import RetintTensors

/// The header of a NumPy file, versions 1.0 to 3.0 (`numpy.lib.format`).
struct NumPyHeader {
    static let magic = [0x93] + Array("NUMPY".utf8)
    /// Headers are padded so that elements start at a multiple of this.
    private static let alignment = 64
    /// The longest header that is read; NumPy itself does not trust headers above 10,000 bytes.
    private static let longest = 1 << 16

    let type: StoredType
    var isBigEndian = false
    /// Whether the first index varies fastest.
    var isFortranOrder = false
    let shape: Shape

    /// Reads the header, and checks that there are as many elements as it says.
    ///
    /// - Parameter range: the bytes of the file that hold the array.
    /// - Returns: the header, and where the elements start in the file.
    static func read(
        from file: RegularFile, _ range: Range<Int>, limits: TensorFileLimits, _ place: FilePlace
    ) throws(TensorFileError) -> (header: NumPyHeader, start: Int) {
        let (textStart, count) = try textRange(of: file, range, place)
        guard count <= longest else {
            throw place.error(
                .refused, "its header has \(count) bytes; the limit is \(longest)")
        }
        let text = try file.head(count, at: textStart)
        guard text.count == count else { throw place.error(.damaged, "ends within its header") }
        let fields = try NumPyHeaderParser.fields(of: text, place)
        let header = try NumPyHeader(fields, limits, place)
        let start = textStart + count
        try header.check(range.upperBound - start, place)
        return (header, start)
    }

    private static func textRange(
        of file: RegularFile, _ range: Range<Int>, _ place: FilePlace
    ) throws(TensorFileError) -> (start: Int, count: Int) {
        let head = try file.head(min(magic.count + 6, range.count), at: range.lowerBound)
        guard head.starts(with: magic) else {
            throw place.error(.otherFormat, "is not a NumPy file (.npy)")
        }
        let rest = head.dropFirst(magic.count)
        guard let major = rest.first, [1, 2, 3].contains(major) else {
            throw place.error(.refused, "has a version of NumPy's format other than 1, 2 or 3")
        }
        let lengthBytes = major == 1 ? 2 : 4
        let length = rest.dropFirst(2).prefix(lengthBytes)
        guard length.count == lengthBytes else {
            throw place.error(.damaged, "ends within its header")
        }
        let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
        return (range.lowerBound + magic.count + 2 + lengthBytes, count)
    }

    private func check(_ byteCount: Int, _ place: FilePlace) throws(TensorFileError) {
        let (due, overflow) = shape.count.multipliedReportingOverflow(by: type.byteCount)
        guard !overflow, due == byteCount else {
            throw place.error(
                .damaged,
                "has \(byteCount) bytes of elements, which do not match \(type) of shape \(shape)")
        }
    }
}

extension NumPyHeader {
    private init(
        _ fields: NumPyHeaderParser.Fields, _ limits: TensorFileLimits, _ place: FilePlace
    ) throws(TensorFileError) {
        let order = fields.type.first
        guard let stored = Self.types[String(fields.type.dropFirst())],
            order == "<" || order == ">" || order == "|" && stored.byteCount == 1
        else { throw place.notPlain("elements of the type \(fields.type.debugDescription)") }
        guard fields.extents.count <= limits.rank else {
            throw place.error(
                .refused,
                "has \(fields.extents.count) dimensions; the limit is \(limits.rank)")
        }
        self.init(
            type: stored, isBigEndian: order == ">", isFortranOrder: fields.isFortranOrder,
            shape: try Shape(checked: fields.extents, place))
    }

    /// The types by NumPy's codes, without the byte order. NumPy has no bfloat16.
    private static let types: [String: StoredType] = [
        "f2": .float16, "f4": .float32, "f8": .float64, "i1": .int8, "i2": .int16, "i4": .int32,
        "i8": .int64, "u1": .uint8, "u2": .uint16, "u4": .uint32, "u8": .uint64,
    ]

    /// The bytes before the elements, of version 1.0.
    var bytes: [UInt8] {
        let code = Self.types.first { $0.value == type }?.key ?? "f4"
        let order = type.byteCount == 1 ? "|" : "<"
        // As Python prints a tuple: of one extent with a comma.
        let extents = shape.dimensions.map(String.init).joined(separator: ", ")
        let tuple = "(\(extents)\(shape.rank == 1 ? "," : ""))"
        let text = "{'descr': '\(order)\(code)', 'fortran_order': False, 'shape': \(tuple), }"
        let prefix = Self.magic.count + 4
        let padding = -(prefix + text.utf8.count + 1) & (Self.alignment - 1)
        let line = Array(text.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: padding)
        let count = line.count + 1
        return Self.magic + [1, 0, UInt8(count & 0xff), UInt8(count >> 8)] + line
            + [UInt8(ascii: "\n")]
    }
}
