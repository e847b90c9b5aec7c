import RetintCUDA
import RetintColor
import RetintCompiler
import RetintGraph
import RetintImages
import RetintPhotoData
import RetintTensors

/// Crops as ``PackedPixels`` with the damage of old photos in gray, or as they are. Inputs: the
/// crops, [N, 1, H, W]; ``DamageNumbers``, [N, their length]; the linear light of levels and of the
/// boundaries between them, [511].
struct DamageOfCrops: HostOperation, DeviceOperation {
    static let name = "damage_of_crops"

    let layout: DamageNumbers

    /// - Parameters:
    ///   - pixels: [N, 1, H, W].
    ///   - numbers: [N, their length].
    static func applied(
        _ layout: DamageNumbers, to pixels: Tensor, _ numbers: Tensor
    ) -> Tensor {
        let light = SRGBCurve.linear + SRGBCurve.boundaries
        let constant = pixels.graph.constant(
            TensorData(shape: [light.count], scalars: light))
        return pixels.graph.apply(DamageOfCrops(layout: layout), [pixels, numbers, constant])
    }

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 3...3)
        try requireRank(inputs[0], 4)
        try require(inputs[0][1] == 1, "pixels have one channel, not \(inputs[0][1])")
        try require(
            inputs[1] == [inputs[0][0], layout.length],
            "each crop has \(layout.length) numbers")
        try require(inputs[2] == [511], "levels and boundaries need their light")
        return inputs[0]
    }

    func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        let shape = inputs[0].shape
        let area = shape[2] * shape[3]
        var crops = inputs[0].scalars
        for index in 0..<shape[0] {
            let numbers = inputs[1].scalars[index * layout.length..<(index + 1) * layout.length]
            guard let damage = layout.damage(Array(numbers)) else { continue }
            let own = index * area..<(index + 1) * area
            let crop = Image(
                width: shape[3], height: shape[2], pixels: PackedPixels.unpack(crops[own]))
            crops.replaceSubrange(own, with: PackedPixels.pack([try crop.damaged(by: damage)]))
        }
        return TensorData(shape: shape, scalars: crops)
    }

    func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let storages = (0..<2).map { _ in Storage(kind: .owned, count: output.count) }
        let planes = storages.map { Buffer(shape: output.shape, storage: $0) }
        var kernels = [levels(inputs, planes[0])]
        for _ in 0..<(layout.hasBlur ? OldPhotoDamage.blurPasses : 0) {
            kernels.append(blur(alongRows: true, inputs[1], planes[0], planes[1]))
            kernels.append(blur(alongRows: false, inputs[1], planes[1], planes[0]))
        }
        kernels.append(marks(inputs, planes[0], output))
        kernels[0].scratch = storages
        return kernels
    }

    /// A kernel for each pixel `i`, which is in a crop with the numbers `damage`.
    private func kernel(
        _ name: String, _ parameters: [Buffer], numbers: Int, _ shape: Shape, _ body: String
    ) -> DeviceKernel {
        .each(
            "damage_\(name)", parameters, shape.count,
            """
            {
                const float *damage =
                    p\(numbers) + (long long)(i / \(shape[2] * shape[3])) * \(layout.length);
            \(body)
            }
            """)
    }

    /// Gray levels after toning and fading.
    private func levels(_ inputs: [Buffer], _ plane: Buffer) -> DeviceKernel {
        typealias Place = DamageNumbers.Place
        return kernel(
            "levels", inputs + [plane], numbers: 1, plane.shape,
            """
                if (damage[\(Place.isDamaged)] == 0.0f) continue;
                const unsigned bits = (unsigned)p0[i];
                float color[3] = {
                    (float)(bits & 255), (float)((bits >> 8) & 255), (float)(bits >> 16)};
                const float strength = damage[\(Place.sepia)];
                if (strength > 0.0f) {
                    const float toned[3] = {
                        0.393f * color[0] + 0.769f * color[1] + 0.189f * color[2],
                        0.349f * color[0] + 0.686f * color[1] + 0.168f * color[2],
                        0.272f * color[0] + 0.534f * color[1] + 0.131f * color[2]};
                    for (int c = 0; c < 3; c++)
                        color[c] = rt_min(color[c] + strength * (toned[c] - color[c]), 255.0f);
                }
                const float luminance = 0.212671f * p2[(int)color[0]]
                    + 0.715160f * p2[(int)color[1]] + 0.072169f * p2[(int)color[2]];
                const float gray =
                    luminance * (3.24048134f * 0.95047f - 1.53715152f - 0.49853633f * 1.08883f);
                int level = 0;
                for (int step = 128; step > 0; step >>= 1)
                    if (level + step < 256 && gray > p2[255 + level + step]) level += step;
                p3[i] = damage[\(Place.lifted)] + (float)level * damage[\(Place.contrast)];
            """)
    }

    /// A pass of a box filter along the rows or columns of blurred crops.
    private func blur(
        alongRows: Bool, _ numbers: Buffer, _ source: Buffer, _ target: Buffer
    ) -> DeviceKernel {
        typealias Place = DamageNumbers.Place
        let (height, width) = (source.shape[2], source.shape[3])
        let (position, last, step) =
            alongRows
            ? ("i % \(width)", width - 1, 1) : ("i / \(width) % \(height)", height - 1, width)
        return kernel(
            alongRows ? "blur_rows" : "blur_columns", [numbers, source, target], numbers: 0,
            source.shape,
            """
                const int radius = (int)damage[\(Place.radius)];
                if (damage[\(Place.isDamaged)] == 0.0f || radius < 0) continue;
                const int position = \(position);
                const float *line = p1 + i - (long long)position * \(step);
                float sum = 0.0f, ends = 0.0f;
                for (int offset = -radius - 1; offset <= radius + 1; offset++) {
                    int place = position + offset;
                    place = place < 0 ? 0 : place > \(last) ? \(last) : place;
                    const float level = line[place * \(step)];
                    if (offset == -radius - 1 || offset == radius + 1) ends += level;
                    else sum += level;
                }
                p2[i] = damage[\(Place.full)] * sum + damage[\(Place.partial)] * ends;
            """)
    }

    /// Grain, scratches and specks, and the levels as packed pixels.
    private func marks(_ inputs: [Buffer], _ plane: Buffer, _ output: Buffer) -> DeviceKernel {
        typealias Place = DamageNumbers.Place
        let bits = DamageNumbers.partBits
        let (height, width) = (output.shape[2], output.shape[3])
        // A mark's level and opacity, as far as it covers the pixel.
        let mix = """
            level += mark[1] * (mark[0] - level) * rt_min(
                rt_max(radius + 0.5f - fabsf((float)x - center), 0.0f),
                rt_min(2.0f * radius, 1.0f));
            """
        return kernel(
            "marks", [inputs[0], inputs[1], plane, output], numbers: 1, output.shape,
            """
                if (damage[\(Place.isDamaged)] == 0.0f) {
                    p3[i] = p0[i];
                    continue;
                }
                const int x = i % \(width), y = i / \(width) % \(height);
                float level = p2[i];
                if (damage[\(Place.grain)] > 0.0f) {
                    const unsigned long long state =
                        (unsigned long long)damage[\(Place.words)]
                        | (unsigned long long)damage[\(Place.words + 1)] << \(bits)
                        | (unsigned long long)damage[\(Place.words + 2)] << \(2 * bits);
                    long long sum = 0;
                    for (int word = 0; word < 2; word++) {
                        const unsigned long long index = 2 * (y * \(width) + x) + word;
                        unsigned long long z = state + (index + 1) * 0x9e3779b97f4a7c15ULL;
                        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
                        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
                        z ^= z >> 31;
                        for (int shift = 0; shift < 64; shift += 16)
                            sum += (long long)(z >> shift & 0xffff);
                    }
                    const float noise = (float)(sum - \(OldPhotoDamage.Grain.mean))
                        * \(OldPhotoDamage.Grain.scale)f;
                    level += damage[\(Place.grain)] * noise;
                }
                for (int n = 0; n < (int)damage[\(Place.scratchCount)]; n++) {
                    const float *scratch =
                        damage + \(Place.scratches) + n * \(DamageNumbers.scratchLength);
                    if ((float)y < scratch[2] || (float)y > scratch[3]) continue;
                    const float center = scratch[0] + scratch[1] * (float)y;
                    const float radius = scratch[4];
                    const float *mark = scratch + 5;
                    \(mix)
                }
                for (int n = 0; n < (int)damage[\(Place.speckCount)]; n++) {
                    const float *speck =
                        damage + \(layout.specksPlace) + n * \(DamageNumbers.speckLength);
                    const float offset = (float)y - speck[1];
                    const float square = speck[2] * speck[2] - offset * offset;
                    if (square <= 0.0f) continue;
                    const float center = speck[0], radius = sqrtf(square);
                    const float *mark = speck + 3;
                    \(mix)
                }
                // Halves are rounded away from 0, as in Swift.
                const float byte = floorf(rt_min(rt_max(level, 0.0f), 255.0f) + 0.5f);
                p3[i] = byte * 65793.0f;
            """)
    }
}
