public import RetintFiles

extension Image {
    /// Reads a JPEG, PNG, WebP, TIFF, BMP, GIF or HEIF image, turned upright as its EXIF
    /// orientation states.
    ///
    /// Transparency is dropped, 16-bit samples keep their high byte, gray, palette and CMYK become
    /// RGB. Colors are converted to sRGB from an embedded RGB profile (ICC). Of a TIFF, the first
    /// page is read. TIFF, GIF and HEIF (HEIC, AVIF) need their libraries at run time: libtiff 4.5
    /// or later, giflib 5, libheif.
    ///
    /// - Parameters:
    ///   - limits: Checked before anything is decoded.
    ///   - minimumSide: Allows a JPEG to be decoded at 1/2, 1/4 or 1/8 of its size, which is
    ///     faster, as long as the shorter side keeps this many pixels.
    /// - Throws: `ImageError` if the file cannot be read, exceeds a limit or is incomplete.
    public init(
        contentsOf path: some PathConvertible, limits: ImageLimits = .default,
        minimumSide: Int? = nil
    ) throws(ImageError) {
        let path = path.filePath.string
        try self.init(
            data: try imageBytes(path, limits), name: path, limits: limits,
            minimumSide: minimumSide)
    }

    /// Reads an image from the bytes of a file. See `init(contentsOf:limits:minimumSide:)`.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - name: The file's name in errors.
    /// - Throws: `ImageError` if the data exceed a limit, are damaged or of another format.
    public init(
        data: [UInt8], name: String, limits: ImageLimits = .default, minimumSide: Int? = nil
    ) throws(ImageError) {
        guard data.count <= limits.maximumFileBytes else {
            throw ImageError(
                .limit, name, "it has \(data.count) bytes, more than \(limits.maximumFileBytes)",
                remedy: "name a smaller file")
        }
        let decoder = Decoder(
            format: try SourceFormat(of: data, file: name), bytes: data, file: name, limits: limits)
        let metadata = Metadata(bytes: data, format: decoder.format)
        let image = try decoder.decode(minimumSide: minimumSide)
            .converted(from: metadata.profile)
        self = image.turned(Orientation(of: data, format: decoder.format))
    }
}

extension Image {
    /// The number of pixels that a file states; nil if its first bytes do not, or it cannot be
    /// read.
    package static func statedPixels(ofFileAt path: some PathConvertible) -> Int? {
        let most = 1 << 20
        guard let bytes = try? RegularFile(path).bytes(at: 0, count: most),
            let format = try? SourceFormat(of: bytes, file: "")
        else { return nil }
        let decoder = Decoder(format: format, bytes: bytes, file: "", limits: .default)
        return (try? decoder.readSize()).map { $0.width * $0.height }
    }
}

func imageBytes(_ path: String, _ limits: ImageLimits) throws(ImageError) -> [UInt8] {
    do {
        return try readFile(path, maximumBytes: limits.maximumFileBytes)
    } catch {
        throw ImageError(error)
    }
}
