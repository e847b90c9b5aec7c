import RetintArchitectures
import RetintCUDA
import RetintColor
import RetintCompiler
import RetintGraph
import RetintImages
import RetintTensors

/// 8-bit pixels as numbers that every backend keeps exactly: red + 2⁸ · green + 2¹⁶ · blue is below
/// 2²⁴.
enum PackedPixels {
    /// The pixels of images, one after another, row by row.
    static func pack(_ images: [Image]) -> [Float] {
        let count = images.reduce(0) { $0 + $1.width * $1.height }
        return [Float](unsafeUninitializedCapacity: count) { packed, initialized in
            for image in images {
                image.pixels.withUnsafeBufferPointer { pixels in
                    for pixel in stride(from: 0, to: pixels.count, by: 3) {
                        let low = UInt32(pixels[pixel]) | UInt32(pixels[pixel + 1]) << 8
                        packed.initializeElement(
                            at: initialized, to: Float(low | UInt32(pixels[pixel + 2]) << 16))
                        initialized += 1
                    }
                }
            }
        }
    }

    /// L in 0…100, [N, 1, H, W].
    ///
    /// - Parameters:
    ///   - pixels: [N, 1, H, W].
    ///   - tones: the shift and the contrast of a ``Tone`` for each image, [N, 2].
    static func lightness(_ pixels: Tensor, tones: Tensor) -> Tensor {
        pixels.graph.apply(LightnessOfPixels(), [pixels, light(pixels.graph), tones])
    }

    /// a and b divided by 110, [N, 2, H, W].
    ///
    /// - Parameter pixels: [N, 1, H, W].
    static func colors(_ pixels: Tensor) -> Tensor {
        pixels.graph.apply(ColorsOfPixels(), [pixels, light(pixels.graph)])
    }

    /// - Returns: R, G, B, R, G, B, …
    static func unpack(_ packed: some Collection<Float>) -> [UInt8] {
        packed.flatMap { value in
            let bits = UInt32(value)
            return [bits, bits >> 8, bits >> 16].map { UInt8(truncatingIfNeeded: $0) }
        }
    }

    /// The Lab planes of each image of [N, 1, H, W].
    static func lab(_ pixels: TensorData) -> [LabPlanes] {
        let area = pixels.shape[2] * pixels.shape[3]
        return (0..<pixels.shape[0]).map { image in
            RetintColor.lab(fromRGB: unpack(pixels.scalars[image * area..<(image + 1) * area]))
        }
    }

    /// The linear light of each 8-bit level, [256].
    fileprivate static func light(_ graph: Graph) -> Tensor {
        graph.constant(TensorData(shape: [256], scalars: SRGBCurve.linear))
    }

    /// Statements of C that set `f`, of which Lab is made, for the pixel `i` of p0, with the light
    /// of its levels in p1. They are those of `lab(fromRGB:)`.
    private static let labSource = """
        const unsigned bits = (unsigned)p0[i];
        float linear[3], f[3];
        for (int c = 0; c < 3; c++) linear[c] = p1[(bits >> (8 * c)) & 255];
        const float rows[9] = {
            0.412453f / 0.95047f, 0.357580f / 0.95047f, 0.180423f / 0.95047f,
            0.212671f, 0.715160f, 0.072169f,
            0.019334f / 1.08883f, 0.119193f / 1.08883f, 0.950227f / 1.08883f};
        for (int c = 0; c < 3; c++) {
            const float *row = rows + 3 * c;
            const float t = row[0] * linear[0] + row[1] * linear[1] + row[2] * linear[2];
            float y = 0.19777225f + t * (3.0823514f + t * (-5.3562182f + t * 3.1619295f));
            for (int step = 0; step < 2; step++) {
                const float cube = y * y * y;
                y += y * ((t - cube) / (cube + cube + t));
            }
            f[c] = t > 0.008856f ? y : 7.787f * t + 16.0f / 116.0f;
        }
        """

    fileprivate static func kernel(
        _ name: String, _ parameters: [Buffer], _ statements: String
    ) -> DeviceKernel {
        .each(name, parameters, parameters[0].count, "{\n\(labSource)\n\(statements)\n}")
    }
}

/// L in 0…100, [N, 1, H, W]. Inputs: ``PackedPixels``, [N, 1, H, W]; the linear light of levels,
/// [256]; shifts and contrasts, [N, 2].
private struct LightnessOfPixels: HostOperation, DeviceOperation {
    static let name = "lightness_of_pixels"

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 3...3)
        try requirePixels(inputs)
        try require(inputs[2] == [inputs[0][0], 2], "each image needs a shift and a contrast")
        return inputs[0]
    }

    func evaluate(_ inputs: [TensorData]) -> TensorData {
        let tones = inputs[2].scalars
        let planes = PackedPixels.lab(inputs[0]).enumerated().flatMap { image, planes in
            Tone(shift: Double(tones[2 * image]), contrast: Double(tones[2 * image + 1]))
                .apply(to: planes.l)
        }
        return TensorData(shape: inputs[0].shape, scalars: planes)
    }

    func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let area = output.shape[2] * output.shape[3]
        let (center, range) = (LabScaling.lightnessCenter, LabScaling.lightnessRange)
        return [
            PackedPixels.kernel(
                Self.name, inputs + [output],
                """
                const float *tone = p2 + 2 * (i / \(area)), l = 116.0f * f[1] - 16.0f;
                const float changed = \(center)f + (l - \(center)f) * tone[1] + tone[0];
                p3[i] = tone[0] == 0.0f && tone[1] == 1.0f
                    ? l : rt_min(rt_max(changed, 0.0f), \(range)f);
                """)
        ]
    }
}

/// a and b divided by 110, [N, 2, H, W]. Inputs: ``PackedPixels``, [N, 1, H, W]; the linear light
/// of levels, [256].
private struct ColorsOfPixels: HostOperation, DeviceOperation {
    static let name = "colors_of_pixels"

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        try requirePixels(inputs)
        return [inputs[0][0], 2, inputs[0][2], inputs[0][3]]
    }

    func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        let planes = PackedPixels.lab(inputs[0]).flatMap { ($0.a + $0.b) }
        return TensorData(
            shape: try outputShape(for: inputs.map(\.shape)),
            scalars: planes.map { $0 / LabScaling.colorRange })
    }

    func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let range = LabScaling.colorRange
        return [
            PackedPixels.kernel(
                Self.name, inputs + [output],
                """
                p2[2 * i] = 500.0f * (f[0] - f[1]) / \(range)f;
                p2[2 * i + 1] = 200.0f * (f[1] - f[2]) / \(range)f;
                """)
        ]
    }
}

private func requirePixels(_ inputs: [Shape]) throws(ShapeError) {
    try requireRank(inputs[0], 4)
    try require(inputs[0][1] == 1, "pixels have one channel, not \(inputs[0][1])")
    try require(inputs[1] == [256], "each level needs its light")
}
