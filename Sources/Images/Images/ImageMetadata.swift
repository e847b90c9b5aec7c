public import RetintFiles

/// The metadata of a photo's file, for the copy that is written.
///
///     let photo = try Image(contentsOf: "photo.jpg")
///     let metadata = try ImageMetadata(contentsOf: "photo.jpg")
///     try colorizer.colorize(photo).write(to: "colored.jpg", metadata: metadata)
///
/// An ``Image`` is upright and sRGB, whatever its file was. So the EXIF data kept here state the
/// orientation 1 and sRGB, and have no thumbnail: it would show the photo as it was before. XMP,
/// IPTC and comments are not kept.
public struct ImageMetadata: Hashable, Sendable {
    /// The EXIF data as a TIFF file; nil if there is none.
    public private(set) var exif: [UInt8]?
    /// The pixels per unit of length; nil if the file states none.
    public var resolution: ImageResolution?
    /// The parts that were not read or could not be kept, and why.
    public private(set) var notes: [String] = []

    /// No metadata: files that are written with it are tagged as sRGB and state nothing else.
    public init() {}

    /// Reads the metadata of an image file. Those of a TIFF are not kept.
    ///
    /// - Throws: `ImageError` if the file cannot be read or has another format. Metadata that are
    ///   damaged are dropped, see ``notes``.
    public init(
        contentsOf path: some PathConvertible, limits: ImageLimits = .default
    ) throws(ImageError) {
        let path = path.filePath.string
        try self.init(data: try imageBytes(path, limits), name: path)
    }

    /// Reads the metadata in the bytes of a file. See `init(contentsOf:limits:)`.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - name: The file's name in errors.
    /// - Throws: `ImageError` if the data are of another format.
    public init(data: [UInt8], name: String) throws(ImageError) {
        let format = try SourceFormat(of: data, file: name)
        let file = Metadata(bytes: data, format: format)
        let page = format == .tiff ? TIFFDirectory(data) : nil
        if page?.hasNext == true {
            notes.append("it has several pages, of which the first one was read")
        }
        if let bits = page?.bitsPerSample ?? Self.depth(ofPNG: data, format), bits > 8 {
            notes.append("it has \(bits) bits per sample, of which the first 8 were read")
        }
        if Self.isTransparent(data, format) { notes.append("its transparency was left out") }
        let turns = Orientation(of: data, format: format).swapsSides
        resolution = file.resolution.map { turns ? $0.turned : $0 }
        guard let found = file.exif else { return }
        if var directories = EXIFDirectories(Array(found)) {
            directories.describeUprightSRGB(turned: turns)
            exif = directories.bytes
        } else {
            notes.append("its EXIF data is damaged and was left out")
        }
    }

    /// The bits of a PNG's sample; nil for other formats.
    private static func depth(ofPNG data: [UInt8], _ format: SourceFormat) -> Int? {
        // After the signature, and the length, the name and two sides of the first chunk.
        format == .png && data.count > 24 ? Int(data[24]) : nil
    }

    /// Whether an image has pixels that are not opaque. Many have a channel for it that says
    /// nothing.
    private static func isTransparent(_ data: [UInt8], _ format: SourceFormat) -> Bool {
        let hasAlpha =
            switch format {
            // The kind of color is the byte after the depth: 4 and 6 have a channel of their own.
            case .png:
                data.count > 25 && [4, 6].contains(data[25])
                    || Metadata(bytes: data, format: format).hasTransparentColors
            case .tiff: TIFFDirectory(data)?.hasAlpha == true
            // A flag of the extended format, and the bit after the sides of a lossless image.
            case .webp:
                data.count > 24
                    && (data[12..<16].elementsEqual("VP8X".utf8) && data[20] & 0x10 != 0
                        || data[12..<16].elementsEqual("VP8L".utf8) && data[24] & 0x10 != 0)
            default: false
            }
        guard hasAlpha else { return false }
        let decoder = Decoder(format: format, bytes: data, file: "", limits: .default)
        guard let pixels = try? decoder.decodeWithAlpha().pixels else { return false }
        return stride(from: 3, to: pixels.count, by: 4).contains { pixels[$0] < 255 }
    }

    /// The metadata that a file of a format can hold.
    func fitting(_ format: ImageFormat) -> ImageMetadata {
        guard case .jpeg = format, let exif, exif.count > Self.largestEXIFOfJPEG else {
            return self
        }
        var result = self
        result.exif = nil
        result.notes.append(
            "its EXIF data has \(exif.count) bytes, more than the \(Self.largestEXIFOfJPEG) that "
                + "a JPEG can hold, and was left out")
        return result
    }

    /// A segment of a JPEG has at most 65,533 bytes; six of them are the prefix.
    static let largestEXIFOfJPEG = 65_533 - 6

    /// The ``notes`` after writing the metadata in a format.
    package func notes(writing format: ImageFormat) -> [String] { fitting(format).notes }

    /// The EXIF data for an image of a size.
    func exif(width: Int, height: Int) -> [UInt8] {
        guard let exif, var directories = EXIFDirectories(exif) else { return [] }
        directories.setSize(width: width, height: height)
        return directories.bytes
    }
}

extension Image {
    /// Reads an image and its metadata from one reading of the file.
    ///
    /// - Throws: as `Image.init(contentsOf:limits:minimumSide:)`.
    public static func withMetadata(
        contentsOf path: some PathConvertible, limits: ImageLimits = .default
    ) throws(ImageError) -> (image: Image, metadata: ImageMetadata) {
        let path = path.filePath.string
        let bytes = try imageBytes(path, limits)
        let image = try Image(data: bytes, name: path, limits: limits)
        return (image, try ImageMetadata(data: bytes, name: path))
    }
}

/// The pixels per unit of length: JFIF's density, PNG's pHYs.
public struct ImageResolution: Hashable, Sendable {
    /// A unit of length.
    public enum Unit: Hashable, Sendable {
        /// Unknown: only the aspect ratio of a pixel is stated.
        case unknown
        /// 2.54 cm.
        case inch
        /// A hundredth of a meter.
        case centimeter
        /// 100 cm.
        case meter
    }

    /// The pixels per unit from left to right.
    package var x: Int
    /// The pixels per unit from top to bottom.
    package var y: Int
    /// The unit.
    package var unit: Unit

    /// A resolution.
    package init(x: Int, y: Int, unit: Unit) { (self.x, self.y, self.unit) = (x, y, unit) }

    var turned: ImageResolution { ImageResolution(x: y, y: x, unit: unit) }

    /// The same in pixels per inch, for JPEG, which has 16 bits for each; nil if it does not fit.
    var inches: ImageResolution? {
        let scale: Double = unit == .meter ? 0.0254 : 1
        let result = scaled(by: scale, unit == .meter ? .inch : unit)
        return (1...0xffff).contains(result.x) && (1...0xffff).contains(result.y) ? result : nil
    }

    /// The same in pixels per meter, for PNG; nil if it does not fit.
    var meters: ImageResolution? {
        let result: ImageResolution =
            switch unit {
            case .inch: scaled(by: 1 / 0.0254, .meter)
            case .centimeter: scaled(by: 100, .meter)
            case .meter, .unknown: self
            }
        let range = 1...0x7fff_ffff
        return range.contains(result.x) && range.contains(result.y) ? result : nil
    }

    private func scaled(by factor: Double, _ unit: Unit) -> ImageResolution {
        func scaled(_ value: Int) -> Int { Int((Double(value) * factor).rounded()) }
        return ImageResolution(x: scaled(x), y: scaled(y), unit: unit)
    }
}
