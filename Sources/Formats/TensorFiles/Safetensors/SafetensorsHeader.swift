import RetintFiles
import RetintTensors

/// The header of a safetensors file: a length, then that many bytes of JSON.
///
/// The rules are those of the format's description and of its reference implementation
/// (github.com/huggingface/safetensors, README.md and safetensors/src/tensor.rs); unlike
/// the latter, duplicate and unknown keys are refused.
struct SafetensorsHeader: Sendable {
    struct Entry: Sendable {
        let name: String
        let type: SafetensorsType
        let shape: Shape
        /// The range of the elements, relative to the end of the header.
        let bytes: Range<Int>
    }

    /// The tensors in the order of their elements in the file.
    let entries: [Entry]
    /// The texts under `__metadata__`.
    let metadata: [String: String]
    /// The offset of the first element in the file.
    let dataStart: Int

    /// The number of bytes that store the length of the JSON.
    static let lengthBytes = 8
    /// The longest header that the reference implementation reads.
    static let longest = 100_000_000
    /// The length and `{`, by which the format is recognized.
    static let shortestFile = lengthBytes + 1
    /// The key of the metadata, which no tensor can have.
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
        var parser = SafetensorsHeaderParser(path: file.path.string, limits: limits)
        try parser.parse(text)
        dataStart = Self.lengthBytes + text.count
        metadata = parser.metadata
        // Keys may be in any order; only empty tensors have equal offsets.
        entries = parser.entries.enumerated().sorted {
            ($0.element.bytes.lowerBound, $0.element.bytes.upperBound, $0.offset)
                < ($1.element.bytes.lowerBound, $1.element.bytes.upperBound, $1.offset)
        }.map(\.element)
        try Self.checkCover(entries, of: file.byteCount - dataStart, path: file.path.string)
    }

    private static func text(of file: RegularFile) throws(TensorFileError) -> [UInt8] {
        let place = FilePlace(file.path.string)
        let start = try file.head(lengthBytes)
        guard start.count == lengthBytes else {
            throw place.error(.damaged, "is truncated within the length of its header")
        }
        let length = length(start)
        guard length <= UInt64(longest) else {
            throw place.error(
                .damaged, "its header of \(length) bytes exceeds the format's \(longest)")
        }
        guard Int(length) <= file.byteCount - lengthBytes else {
            throw place.error(
                .damaged,
                "is truncated: its header of \(length) bytes does not fit in a file of "
                    + "\(file.byteCount)")
        }
        return try file.head(Int(length), at: lengthBytes)
    }

    /// Checks that the elements cover the file after the header without gaps or overlaps.
    private static func checkCover(
        _ entries: [Entry], of byteCount: Int, path: String
    ) throws(TensorFileError) {
        var end = 0
        for entry in entries {
            guard entry.bytes.lowerBound == end else {
                let what = entry.bytes.lowerBound < end ? "overlap" : "leave gaps"
                throw FilePlace(path, entry.name).error(
                    .damaged,
                    "its elements begin at \(entry.bytes.lowerBound) instead of \(end): "
                        + "tensors must not \(what)")
            }
            end = entry.bytes.upperBound
        }
        guard end == byteCount else {
            throw FilePlace(path).error(
                .damaged,
                end > byteCount
                    ? "is truncated: its tensors take \(end) bytes, and \(byteCount) are left"
                    : "its tensors take \(end) bytes, but \(byteCount) follow the header")
        }
    }
}
