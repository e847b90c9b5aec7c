import RetintFiles
import RetintONNXProto
import SystemPackage

/// The external data files with elements of a model's tensors.
final class ExternalFiles {
    private let folder: String
    /// By path, of which a text is no key: it is equal to those that Unicode calls equivalent.
    private var files: [FilePath: RegularFile] = [:]
    private static let maximumCount = 4096
    private var shared = SharedBytes()

    /// The paths of the files that were read so far, sorted.
    var paths: [String] {
        files.keys.map(\.string).sorted(by: String.precedesAsPath).map { folder + "/" + $0 }
    }

    init(beside path: FilePath) {
        let folder = path.removingLastComponent().string
        self.folder = folder.isEmpty ? "." : folder
    }

    /// The bytes of a tensor.
    ///
    /// - Parameter count: the number of bytes that its shape and type need.
    /// - Throws: ``ONNXError`` for a place outside the file or the folder; `FileError` if the file
    ///   cannot be read.
    func read(
        _ entries: [ONNXStringStringEntryProto], count: Int, at place: String
    ) throws -> [UInt8] {
        let values = Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }
        guard let location = values["location"] else {
            throw ONNXError(place: place, rule: "its external data has no location")
        }
        let file = try file(at: location, place)
        let offset = try number("offset", values, place) ?? 0
        let length = try number("length", values, place) ?? count
        guard length == count else {
            throw ONNXError(
                place: place, rule: "its shape needs \(count) bytes of external data, not \(length)"
            )
        }
        guard offset <= file.byteCount, length <= file.byteCount - offset else {
            throw ONNXError(
                place: place,
                rule: "bytes \(offset) to \(offset)+\(length) are not in "
                    + "\(location.quoted), which has \(file.byteCount)",
                remedy: "The file of weights belongs to another model or is incomplete: copy both.")
        }
        if let rule = shared.take(length) {
            throw ONNXError(
                place: place, rule: rule,
                remedy: "Save the model again, with each tensor's data once.")
        }
        return try file.bytes(at: offset, count: length)
    }

    private func file(at location: String, _ place: String) throws -> RegularFile {
        if let file = files[FilePath(location)] { return file }
        let subject = "external file \(location.quoted)"
        if let flaw = RelativePath.flaw(in: location) {
            throw ONNXError(place: place, rule: "\(subject): \(flaw)", remedy: Self.remedy)
        }
        if let (_, kind) = try RelativePath.obstacle(in: location, below: folder) {
            let rule = kind == .link ? "links are not followed" : "it is not next to the model"
            throw ONNXError(place: place, rule: "\(subject): \(rule)", remedy: Self.remedy)
        }
        guard files.count < Self.maximumCount else {
            throw ONNXError(
                place: place, rule: "the model has over \(Self.maximumCount) external files",
                remedy: "Save it with all tensors in one file.")
        }
        let file = try RegularFile(location, beneath: folder)
        files[FilePath(location)] = file
        shared.add(file)
        return file
    }

    private static let remedy = "Put the file of weights into the model's own folder."

    private func number(
        _ key: String, _ values: [String: String], _ place: String
    ) throws -> Int? {
        guard let text = values[key] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw ONNXError(
                place: place,
                rule: "its external data has the \(key) \(text.quoted)")
        }
        return number
    }
}
