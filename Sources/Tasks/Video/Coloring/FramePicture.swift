import RetintPhotoData

/// A picture that all frames of a video show in the same perspective.
struct FramePicture: Sendable {
    /// How rectified frames are stored: only Y'.
    let format: FrameFormat
    private let frames: FrameFormat
    private let quadrilateral: Quadrilateral
    private let map: Homography

    /// - Throws: `PhotoError` if the quadrilateral reaches beyond the frames.
    init(_ quadrilateral: Quadrilateral, in frames: FrameFormat, of video: String) throws {
        try quadrilateral.check(width: frames.width, height: frames.height, photo: video)
        (self.frames, self.quadrilateral) = (frames, quadrilateral)
        let (width, height) = quadrilateral.size(inPhoto: frames.width, frames.height)
        do throws(FrameError) {
            format = try FrameFormat(
                width: width, height: height, chroma: .mono, bitDepth: frames.bitDepth,
                range: frames.range, matrix: frames.matrix)
        } catch {
            throw error.of(video)
        }
        map = Homography(fromWidth: Double(width), height: Double(height), to: quadrilateral)
    }

    /// The Y' of the picture, as seen from the front.
    func straightened(_ frame: Frame) throws(FrameError) -> Frame {
        let (width, height, bytes) = (format.width, format.height, format.bytesPerSample)
        var luma = Frame.Plane(
            bytes: [UInt8](repeating: 0, count: width * height * bytes), bytesPerRow: width * bytes)
        let source = frame.luma
        for y in 0..<height {
            for x in 0..<width {
                let cell = Cell(
                    map(SIMD2(Double(x) + 0.5, Double(y) + 0.5)), width: frames.width,
                    height: frames.height)
                let value = cell.value {
                    Float(source.level($0 % frames.width, $0 / frames.width, bytes: bytes))
                }
                luma.store(UInt16(value.rounded()), x, y, bytes: bytes)
            }
        }
        return try Frame(format, luma: luma)
    }

    /// Values of the picture at the color samples of a frame that show it; 0 elsewhere.
    ///
    /// - Parameters:
    ///   - plane: a plane of the picture, at any size.
    ///   - width: the width of `plane`.
    ///   - height: the height of `plane`.
    func inFrame(_ plane: [Float], width: Int, height: Int) -> [Float] {
        let colored = frames.colored
        let (columns, rows) = (colored.chromaWidth, colored.chromaHeight)
        let (across, down) = (
            Double(colored.lumaPerChroma.columns), Double(colored.lumaPerChroma.rows)
        )
        let back = Homography(
            fromWidth: Double(width), height: Double(height), to: quadrilateral
        ).inverse
        let bounds = Coverage(quadrilateral).bounds(width: frames.width, height: frames.height)
        var result = [Float](repeating: 0, count: columns * rows)
        for y in bounds.rows.lowerBound / Int(down)...(bounds.rows.upperBound - 1) / Int(down) {
            for x in bounds.columns.lowerBound
                / Int(across)...(bounds.columns.upperBound - 1) / Int(across)
            {
                let point = SIMD2((Double(x) + 0.5) * across, (Double(y) + 0.5) * down)
                let cell = Cell(back(point), width: width, height: height)
                result[y * columns + x] = cell.value { plane[$0] }
            }
        }
        return result
    }

    /// How much of each pixel of a frame the picture covers, 0…1.
    var coverage: [Float] {
        let coverage = Coverage(quadrilateral)
        let bounds = coverage.bounds(width: frames.width, height: frames.height)
        var result = [Float](repeating: 0, count: frames.width * frames.height)
        for y in bounds.rows {
            for x in bounds.columns {
                result[y * frames.width + x] = Float(coverage.part(x: x, y: y)?.area ?? 0)
            }
        }
        return result
    }
}
