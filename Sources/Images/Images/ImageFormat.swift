public import RetintFiles

/// The format in which an image is written.
public enum ImageFormat: Hashable, Sendable {
    /// Lossless. Level 0 is the fastest, 9 the smallest.
    case png(level: Int = 2)
    /// Lossy. Quality 1 is smallest, 100 best; from 90 on, color keeps its full resolution.
    case jpeg(quality: Int = 95)

    /// The format given by the extension of a path; nil unless it is png, jpg or jpeg.
    public init?(path: some PathConvertible) {
        switch path.filePath.extension?.lowercased() {
        case "png": self = .png()
        case "jpg", "jpeg": self = .jpeg()
        default: return nil
        }
    }
}

/// The formats that can be read, recognized by the first bytes of a file.
enum SourceFormat: CaseIterable {
    case jpeg, png, webp

    init(of bytes: [UInt8], file: String) throws(ImageError) {
        guard let format = Self.allCases.first(where: { $0.matches(bytes) }) else {
            throw ImageError(
                .format, file, "not a JPEG, PNG or WebP image (\(guess(bytes)))",
                remedy: "convert it to one of these formats")
        }
        self = format
    }

    private func matches(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .jpeg: bytes.starts(with: [0xff, 0xd8, 0xff])
        case .png: bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case .webp: bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        }
    }
}

/// A guess at the format of an unsupported file, for the error.
private func guess(_ bytes: [UInt8]) -> String {
    let known: [(mark: String, offset: Int, name: String)] = [
        ("GIF8", 0, "it is a GIF"), ("BM", 0, "it may be a BMP"), ("II*\0", 0, "it is a TIFF"),
        ("MM\0*", 0, "it is a TIFF"), ("ftyphe", 4, "it is a HEIC"), ("ftypmif", 4, "it is a HEIC"),
        ("ftypavif", 4, "it is an AVIF"), ("%PDF", 0, "it is a PDF"), ("<svg", 0, "it is an SVG"),
    ]
    for (mark, offset, name) in known where bytes.dropFirst(offset).starts(with: mark.utf8) {
        return name
    }
    if bytes.isEmpty { return "the file is empty" }
    let isText = bytes.prefix(64).allSatisfy { (0x20..<0x7f).contains($0) || (9...13) ~= $0 }
    return isText ? "it holds text" : "its first bytes are unknown"
}
