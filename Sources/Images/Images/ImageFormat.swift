import CRetintImageCodecs
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

extension ImageFormat {
    /// The extensions of the files that can be read, in lower case.
    package static let readableExtensions: Set<String> = [
        "jpg", "jpeg", "png", "webp", "tif", "tiff", "bmp", "gif", "heic", "heif", "avif",
    ]

    /// The formats that can be read, for messages.
    public static let readable = "JPEG, PNG, WebP, TIFF, BMP, GIF and HEIF"
}

/// The formats that can be read, recognized by the first bytes of a file.
enum SourceFormat: CaseIterable {
    case jpeg, png, webp, tiff, bmp, gif, heif

    init(of bytes: [UInt8], file: String) throws(ImageError) {
        guard let format = Self.allCases.first(where: { $0.matches(bytes) }) else {
            let found = guess(bytes)
            throw ImageError(
                .format, file, "not an image of a format that is read (\(found))",
                remedy: found == video
                    ? "color it with `retint video`" : "convert it to JPEG or PNG")
        }
        try format.checkLibrary(file)
        self = format
    }

    private func matches(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .jpeg: bytes.starts(with: [0xff, 0xd8, 0xff])
        case .png: bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case .webp: bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        case .tiff:
            // Little and big endian; 43 marks a file that may be larger than 4 GiB.
            [
                [0x49, 0x49, 42, 0], [0x49, 0x49, 43, 0], [0x4d, 0x4d, 0, 42], [0x4d, 0x4d, 0, 43],
            ]
            .contains { bytes.starts(with: $0) }
        case .bmp: bytes.starts(with: "BM".utf8)
        case .gif: bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8)
        case .heif:
            bytes.dropFirst(4).starts(with: "ftyp".utf8)
                && Self.brandsOfHEIF.contains { bytes.dropFirst(8).starts(with: $0.utf8) }
        }
    }

    /// HEIC (H.265) and AVIF (AV1), single images and sequences.
    private static let brandsOfHEIF = [
        "heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1", "avif", "avis",
    ]

    /// - Throws: `ImageError` if the library that reads the format is not there.
    private func checkLibrary(_ file: String) throws(ImageError) {
        let (isThere, format, library, package) =
            switch self {
            case .jpeg, .png, .webp, .bmp: (true, "", "", "")
            case .tiff: (codec_tiff_is_available(), "TIFF", "libtiff 4.5 or later", "libtiff6")
            case .gif: (codec_gif_is_available(), "GIF", "giflib 5", "libgif7")
            case .heif: (codec_heif_is_available(), "HEIF", "libheif", "libheif1")
            }
        guard isThere else {
            throw ImageError(
                .format, file, "\(format) files are read by \(library), which is not installed",
                remedy: "install it (Debian: apt install \(package)), or save it as PNG")
        }
    }
}

/// The guess of which there is a command of its own.
private let video = "it is a video"

/// A guess at the format of an unsupported file, for the error.
private func guess(_ bytes: [UInt8]) -> String {
    let known: [(mark: String, offset: Int, name: String)] = [
        ("%PDF", 0, "it is a PDF"), ("<svg", 0, "it is an SVG"), ("8BPS", 0, "it is a PSD"),
        ("ftyp", 4, video), ("YUV4MPEG2", 0, video), ("AVI ", 8, video),
    ]
    for (mark, offset, name) in known where bytes.dropFirst(offset).starts(with: mark.utf8) {
        return name
    }
    // Matroska and WebM.
    if bytes.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) { return video }
    if bytes.isEmpty { return "the file is empty" }
    let isText = bytes.prefix(64).allSatisfy { (0x20..<0x7f).contains($0) || (9...13) ~= $0 }
    return isText ? "it holds text" : "its first bytes are unknown"
}
