import TensorGraph

/// What stands before the elements in a safetensors file: a length, and that many bytes of JSON.
///
/// The rules are those of the format's description and of its reference implementation
/// (github.com/huggingface/safetensors, README.md and safetensors/src/tensor.rs); where the latter
/// reads on, equal keys and keys that mean nothing are refused here.
struct SafetensorsHeader: Sendable {
    struct Entry: Sendable {
        let name: String
        let type: SafetensorsType
        let shape: Shape
        /// Where the elements stand, from the end of the header on.
        let bytes: Range<Int>
    }

    /// In the order in which their elements stand in the file.
    let entries: [Entry]
    /// Free texts under `__metadata__`.
    let metadata: [String: String]
    /// Where the elements begin in the file.
    let dataStart: Int

    /// The length of the JSON is stored in so many bytes.
    static let lengthBytes = 8
    /// The reference implementation reads no longer ones.
    static let longest = 100_000_000
    /// The length and `{`: what tells the format.
    static let shortestFile = lengthBytes + 1
    /// The key of the free texts, which no tensor can have.
    static let metadataKey = "__metadata__"

    /// Whether a file that starts like this is a safetensors file.
    static func begins(_ start: [UInt8]) -> Bool {
        start.count >= shortestFile && length(start) <= UInt64(longest)
            && start[lengthBytes] == UInt8(ascii: "{")
    }

    private static func length(_ start: [UInt8]) -> UInt64 {
        start.prefix(lengthBytes).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads and checks the header of a file.
    init(of file: RegularFile, limits: TensorFileLimits) throws(TensorFileError) {
        let text = try Self.text(of: file)
        var parser = SafetensorsHeaderParser(path: file.path, limits: limits)
        try parser.parse(text)
        dataStart = Self.lengthBytes + text.count
        metadata = parser.metadata
        // The order of the keys means nothing; equal offsets are those of empty tensors.
        entries = parser.entries.enumerated().sorted {
            ($0.element.bytes.lowerBound, $0.element.bytes.upperBound, $0.offset)
                < ($1.element.bytes.lowerBound, $1.element.bytes.upperBound, $1.offset)
        }.map(\.element)
        try Self.checkCover(entries, of: file.byteCount - dataStart, path: file.path)
    }

    private static func text(of file: RegularFile) throws(TensorFileError) -> [UInt8] {
        let place = FilePlace(file.path)
        let start = try file.bytes(at: 0, count: lengthBytes)
        guard start.count == lengthBytes else {
            throw place.error(.damaged, "breaks off within the length of its header")
        }
        let length = length(start)
        guard length <= UInt64(longest) else {
            throw place.error(
                .damaged, "its header of \(length) bytes exceeds the format's \(longest)")
        }
        guard Int(length) <= file.byteCount - lengthBytes else {
            throw place.error(
                .damaged,
                "breaks off: its header of \(length) bytes does not fit in a file of "
                    + "\(file.byteCount)")
        }
        return try file.bytes(at: lengthBytes, count: Int(length))
    }

    /// The elements of the tensors follow each other up to the end of the file: no byte is left
    /// out, and none is two tensors'.
    private static func checkCover(
        _ entries: [Entry], of byteCount: Int, path: String
    ) throws(TensorFileError) {
        var end = 0
        for entry in entries {
            guard entry.bytes.lowerBound == end else {
                let what = entry.bytes.lowerBound < end ? "overlap" : "leave a hole"
                throw FilePlace(path, entry.name).error(
                    .damaged,
                    "its elements begin at \(entry.bytes.lowerBound) where \(end) is due: "
                        + "tensors must not \(what)")
            }
            end = entry.bytes.upperBound
        }
        guard end == byteCount else {
            throw FilePlace(path).error(
                .damaged,
                end > byteCount
                    ? "breaks off: its tensors take \(end) bytes, and \(byteCount) are left"
                    : "its tensors take \(end) bytes, but \(byteCount) follow the header")
        }
    }
}
