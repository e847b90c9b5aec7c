@testable import RetintCheckpoints
@testable import RetintTensorFiles

/// Files of torch.save: the first byte says whether a pickle and a storage are put into an archive
/// or into a stream, or the bytes are a file as they are.
struct PyTorchTarget: FuzzTarget {
    let name = "pytorch"

    func seeds() throws -> [[UInt8]] {
        let parts = Parts([Self.pickle, [UInt8](repeating: 0, count: 24)])
        return [
            [0] + parts.bytes, [128] + parts.bytes, [255] + Self.archive(parts),
            [255] + Self.stream(parts),
        ]
    }

    func run(_ input: [UInt8]) throws {
        let path = WorkFolder.write(Self.file(input), to: "file.pth")
        try TensorFileRun.read(path)
        _ = try PyTorchReader(path: path, key: "model").tensorNames()
        _ = try Checkpoint.importing(weights: path, of: .named("pico-unet"), isStrict: false)
    }

    func mutated(
        _ input: [UInt8], limit: Int, seed: UInt32, change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8]? {
        Parts.mutatedAfterMode(input, limit: limit, seed: seed, change: change)
    }

    private static func file(_ input: [UInt8]) -> [UInt8] {
        guard let mode = input.first, mode < 224 else { return Array(input.dropFirst()) }
        let parts = Parts(Array(input.dropFirst()), count: 2)
        return mode < 112 ? archive(parts) : stream(parts)
    }

    /// A zip file without checksums.
    private static func archive(_ parts: Parts) -> [UInt8] {
        var (file, directory) = ([UInt8](), [UInt8]())
        for (name, content) in zip(["a/data.pkl", "a/data/0"], parts.files) {
            let sizes = number(content.count, 4) + number(content.count, 4)
            let fields = number(20, 10) + number(0, 4) + sizes + number(name.utf8.count, 4)
            directory += [0x50, 0x4b, 1, 2] + number(20, 2) + fields + number(0, 10)
            directory += number(file.count, 4) + Array(name.utf8)
            file += [0x50, 0x4b, 3, 4] + fields + Array(name.utf8) + content
        }
        let counts = number(2, 2) + number(2, 2) + number(directory.count, 4)
        return file + directory + [0x50, 0x4b, 5, 6] + number(0, 4) + counts
            + number(file.count, 4) + number(0, 2)
    }

    private static func stream(_ parts: Parts) -> [UInt8] {
        let magic: [UInt8] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19]
        return [0x80, 2, 0x8a, 10] + magic + Array(".".utf8) + [0x80, 2]
            + Array("M\u{e9}".unicodeScalars.map { UInt8($0.value) }) + [3] + Array(".".utf8)
            + [0x80, 2] + Array("}.".utf8) + parts.files[0] + [0x80, 2]
            + Array("]X\u{1}\0\0\00a.".utf8) + number(6, 8) + parts.files[1]
    }

    private static func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> ($0 * 8)) : 0 }
    }

    /// `{"model": {"weight": …}}` with two by three elements.
    private static var pickle: [UInt8] {
        let storage = "(\(text("storage"))ctorch\nFloatStorage\n\(text("0"))\(text("cpu"))K\u{6}tQ"
        let tensor =
            "ctorch._utils\n_rebuild_tensor_v2\n(\(storage)K\0(K\u{2}K\u{3}t(K\u{3}K\u{1}tNNtR"
        let dictionary = "}\(text("model"))}(\(text("weight"))\(tensor)us."
        return [0x80, 2] + Array(dictionary.utf8)
    }

    private static func text(_ text: String) -> String {
        "X\(Character(Unicode.Scalar(UInt8(text.utf8.count))))\0\0\0\(text)"
    }
}
