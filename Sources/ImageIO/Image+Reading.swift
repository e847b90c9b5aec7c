import Files

extension Image {
    /// Reads a JPEG, PNG or WebP picture, turned upright if its EXIF data say how it was held.
    ///
    /// Transparency is dropped, 16-bit samples keep their high byte, gray, palette and CMYK become
    /// RGB. Colors of an embedded RGB profile (ICC) are turned into sRGB.
    ///
    /// - Parameters:
    ///   - limits: Checked before anything is decoded.
    ///   - minimumSide: Lets a JPEG be decoded at 1/2, 1/4 or 1/8 of its size, which is faster, as
    ///     long as the shorter side keeps this many pixels.
    /// - Throws: `ImageError` if the file cannot be read, passes a limit, or is not whole.
    public init(
        contentsOf path: String, limits: ImageLimits = .default, minimumSide: Int? = nil
    ) throws(ImageError) {
        try self.init(
            data: try imageBytes(path, limits), name: path, limits: limits,
            minimumSide: minimumSide)
    }

    /// Reads a picture from the bytes of a file. See `init(contentsOf:limits:minimumSide:)`.
    ///
    /// - Parameter name: What errors call the file.
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

func imageBytes(_ path: String, _ limits: ImageLimits) throws(ImageError) -> [UInt8] {
    do {
        return try readFile(path, maximumBytes: limits.maximumFileBytes)
    } catch {
        throw ImageError(error)
    }
}
