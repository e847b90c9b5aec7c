import CRetintImageCodecs
public import RetintFiles

extension Image {
    /// Encodes the image as the bytes of a file.
    ///
    /// - Parameter metadata: the metadata of the file; it is then tagged as sRGB
    ///   too, in a PNG by a chunk, in a JPEG by a profile.
    /// - Throws: `ImageError` if the image is too large for the format: over 65,500 pixels a side
    ///   for JPEG.
    public func encode(
        _ format: ImageFormat, metadata: ImageMetadata? = nil
    ) throws(ImageError) -> [UInt8] {
        try encode(format, metadata: metadata, file: "the encoded image")
    }

    /// Writes the image to a file, replacing an existing one in one step. If anything fails, the
    /// old file stays as it was.
    ///
    /// - Parameters:
    ///   - format: If nil, given by the extension: png, jpg or jpeg.
    ///   - metadata: as for ``encode(_:metadata:)``.
    /// - Throws: `ImageError` if the extension names no such format or the file cannot be written.
    public func write(
        to path: some PathConvertible, format: ImageFormat? = nil, metadata: ImageMetadata? = nil
    ) throws(ImageError) {
        let path = path.filePath.string
        guard let format = format ?? ImageFormat(path: path) else {
            throw ImageError(
                .format, path, "its extension names no format that can be written",
                remedy: "use .png, .jpg or .jpeg")
        }
        let bytes = try encode(format, metadata: metadata, file: path)
        do {
            try AtomicFile.write(bytes, to: path)
        } catch {
            throw ImageError(error)
        }
    }

    /// - Parameters:
    ///   - file: the image's name in errors.
    ///   - threads: the threads that share the work for a PNG, whose bytes are the same with any
    ///     number of them.
    package func encode(
        _ format: ImageFormat, metadata: ImageMetadata? = nil, file: String, threads: Int = 1
    ) throws(ImageError) -> [UInt8] {
        checkPixels()
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        defer { codec_free(bytes) }
        let tags = metadata.map { CodecTags($0.fitting(format), of: self, for: format) }
        let problem = codecMessage {
            encode(format, tags, threads: threads, &bytes, &count, $0)
        }
        if let problem {
            throw ImageError(
                .limit, file, "cannot be encoded: \(problem)",
                remedy: "choose another format or a smaller image")
        }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private func encode(
        _ format: ImageFormat, _ tags: CodecTags?, threads: Int,
        _ bytes: inout UnsafeMutablePointer<UInt8>?, _ count: inout Int,
        _ message: UnsafeMutablePointer<CChar>
    ) -> Bool {
        let (width, height) = (UInt32(clamping: width), UInt32(clamping: height))
        return tags.withCodecMetadata { metadata in
            switch format {
            case .png(let level):
                let level = Int32(min(max(level, 0), 9))
                let rows = PNGBlocks(self, level: level, threads: threads)
                return codec_png_encode(
                    rows.blocks, rows.blocks.count, width, height, level, metadata, &bytes, &count,
                    message)
            case .jpeg(let quality):
                return codec_jpeg_encode(
                    pixels, width, height, Int32(min(max(quality, 1), 100)), metadata, &bytes,
                    &count, message)
            }
        }
    }
}

/// Metadata as the C functions take them.
private struct CodecTags {
    let exif: [UInt8]
    let resolution: ImageResolution?

    init(_ metadata: ImageMetadata, of image: Image, for format: ImageFormat) {
        exif = metadata.exif(width: image.width, height: image.height)
        resolution =
            switch format {
            case .jpeg: metadata.resolution?.inches
            case .png: metadata.resolution?.meters
            }
    }

    /// The number of the unit in JFIF and in pHYs.
    var unit: UInt8 {
        switch resolution?.unit {
        case .inch, .meter: 1
        case .centimeter: 2
        case .unknown, nil: 0
        }
    }
}

extension CodecTags? {
    fileprivate func withCodecMetadata(
        _ body: (UnsafePointer<CodecMetadata>?) -> Bool
    ) -> Bool {
        guard let self else { return body(nil) }
        return self.exif.withUnsafeBufferPointer { exif in
            var metadata = CodecMetadata(
                exif: exif.baseAddress, exif_count: exif.count,
                x_density: UInt32(self.resolution?.x ?? 0),
                y_density: UInt32(self.resolution?.y ?? 0), density_unit: self.unit)
            return withUnsafePointer(to: &metadata, body)
        }
    }
}
