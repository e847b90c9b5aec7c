import CImageCodecs
public import Files

extension Image {
    /// Encodes the image as the bytes of a file.
    ///
    /// - Throws: `ImageError` if the image is too large for the format: over 65,500 pixels a side
    ///   for JPEG.
    public func encode(_ format: ImageFormat) throws(ImageError) -> [UInt8] {
        try encode(format, file: "the encoded image")
    }

    /// Writes the image to a file, replacing an existing one in one step. If anything fails, the
    /// old file stays as it was.
    ///
    /// - Parameter format: If nil, given by the extension: png, jpg or jpeg.
    /// - Throws: `ImageError` if the extension names no such format or the file cannot be written.
    public func write(
        to path: some PathConvertible, format: ImageFormat? = nil
    ) throws(ImageError) {
        let path = path.filePath.string
        guard let format = format ?? ImageFormat(path: path) else {
            throw ImageError(
                .format, path, "its extension names no format that can be written",
                remedy: "use .png, .jpg or .jpeg")
        }
        let bytes = try encode(format, file: path)
        do {
            try AtomicFile.write(bytes, to: path)
        } catch {
            throw ImageError(error)
        }
    }

    /// - Parameter file: the image's name in errors.
    package func encode(_ format: ImageFormat, file: String) throws(ImageError) -> [UInt8] {
        checkPixels()
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        defer { codec_free(bytes) }
        let problem = codecMessage { encode(format, &bytes, &count, $0) }
        if let problem {
            throw ImageError(
                .limit, file, "cannot be encoded: \(problem)",
                remedy: "choose another format or a smaller image")
        }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private func encode(
        _ format: ImageFormat, _ bytes: inout UnsafeMutablePointer<UInt8>?, _ count: inout Int,
        _ message: UnsafeMutablePointer<CChar>
    ) -> Bool {
        let (width, height) = (UInt32(clamping: width), UInt32(clamping: height))
        return switch format {
        case .png(let level):
            codec_png_encode(
                pixels, width, height, Int32(min(max(level, 0), 9)), &bytes, &count, message)
        case .jpeg(let quality):
            codec_jpeg_encode(
                pixels, width, height, Int32(min(max(quality, 1), 100)), &bytes, &count, message)
        }
    }
}
