import RetintArchitectures
import RetintCUDA
import RetintColor
import RetintCompiler
import RetintGraph
import RetintTensors

extension ClassTargets {
    /// Classes or their weights, as a step computes them of colors.
    ///
    /// - Parameter colors: a and b divided by 110, [N, 2, H, W].
    func tensor(_ input: StepInput, of colors: Tensor) -> Tensor {
        let graph = colors.graph
        let centers = graph.constant(
            TensorData(
                shape: [bins.count, 2], scalars: bins.centers.flatMap { [$0.a, $0.b] }))
        guard input == .classWeights else {
            return graph.apply(SoftClasses(targets: self), [colors, centers])
        }
        let weights = weights ?? [Float](repeating: 1, count: bins.count)
        let each = graph.constant(TensorData(shape: [bins.count], scalars: weights))
        return graph.apply(ClassWeights(targets: self), [colors, centers, each])
    }

    /// The shape of classes, or of their weights, at the pixels that have some.
    fileprivate func shape(_ inputs: [Shape], channels: Int) throws(ShapeError) -> Shape {
        try requireRank(inputs[0], 4)
        let (height, width) = (inputs[0][2], inputs[0][3])
        try require(
            inputs[0][1] == 2 && height.isMultiple(of: stride) && width.isMultiple(of: stride),
            "colors must be two channels, at a multiple of \(stride)")
        try require(inputs[1] == [bins.count, 2], "each bin needs a color")
        return [inputs[0][0], channels, height / stride, width / stride]
    }

    fileprivate func evaluate(_ input: StepInput, _ inputs: [TensorData]) throws -> TensorData {
        guard let value = self.inputs(for: inputs[0])[input] else {
            throw ShapeError("has no \(input.name)")
        }
        return value
    }

    /// Statements of C that set `bins` and `distances` to the nearest `count` bins of the color
    /// a, b among those of p1; of those at the same distance the first ones.
    fileprivate func nearestSource(_ count: Int) -> String {
        """
        float distances[\(count)];
        int bins[\(count)], found = 0;
        for (int bin = 0; bin < \(bins.count); bin++) {
            const float da = p1[2 * bin] - a, db = p1[2 * bin + 1] - b;
            const float distance = da * da + db * db;
            if (found == \(count) && distance >= distances[\(count) - 1]) continue;
            int place = found < \(count) ? found++ : \(count) - 1;
            for (; place > 0 && distances[place - 1] > distance; place--) {
                distances[place] = distances[place - 1];
                bins[place] = bins[place - 1];
            }
            distances[place] = distance;
            bins[place] = bin;
        }
        """
    }

    /// Statements of C that set a and b of the pixel with the classes of `cell`, counted from the
    /// first of p0.
    fileprivate func colorSource(_ colors: Shape) -> String {
        let (height, width) = (colors[2], colors[3])
        let (columns, area) = (width / stride, (height / stride) * (width / stride))
        return """
            const long long image = cell / \(area), inImage = cell % \(area);
            const long long pixel = image * \(height * width)
                + inImage / \(columns) * \(stride * width) + inImage % \(columns) * \(stride);
            const float a = p0[2 * pixel] * \(LabScaling.colorRange)f;
            const float b = p0[2 * pixel + 1] * \(LabScaling.colorRange)f;
            """
    }
}

/// Colors spread over their nearest bins: [N, bins, H/stride, W/stride]. Inputs: colors, a and b
/// divided by 110, [N, 2, H, W]; a and b of the bins, [bins, 2].
private struct SoftClasses: HostOperation, DeviceOperation {
    static let name = "soft_classes"
    let targets: ClassTargets

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return try targets.shape(inputs, channels: targets.bins.count)
    }

    func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        try targets.evaluate(.classes, inputs)
    }

    /// The nearest bins of each color, and then their weights among all, which adjacent threads
    /// write to adjacent places.
    func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let (bins, neighbors) = (targets.bins.count, targets.neighbors)
        let cells = output.count / bins
        let storage = Storage(kind: .owned, count: cells * 2 * neighbors)
        let nearest = Buffer(shape: [storage.count], storage: storage)
        let spread = 2 * targets.sigma * targets.sigma
        var search = DeviceKernel.each(
            "nearest_bins", inputs + [nearest], cells,
            """
            {
                const long long cell = i;
            \(targets.colorSource(inputs[0].shape))
            \(targets.nearestSource(neighbors))
                float sum = 0.0f;
                for (int j = 0; j < \(neighbors); j++) {
                    distances[j] = expf(-distances[j] / \(spread)f);
                    sum += distances[j];
                }
                for (int j = 0; j < \(neighbors); j++) {
                    p2[(cell * \(neighbors) + j) * 2] = (float)bins[j];
                    p2[(cell * \(neighbors) + j) * 2 + 1] = distances[j] / sum;
                }
            }
            """)
        search.scratch = [storage]
        let write = DeviceKernel.each(
            Self.name, [nearest, output], output.count,
            """
            {
                const float *entry = p0 + (i / \(bins)) * \(2 * neighbors);
                const float bin = (float)(i % \(bins));
                float weight = 0.0f;
                for (int j = 0; j < \(neighbors); j++)
                    if (entry[2 * j] == bin) weight = entry[2 * j + 1];
                p1[i] = weight;
            }
            """)
        return [search, write]
    }
}

/// The weights of classes: [N, 1, H/stride, W/stride]. Inputs: those of ``SoftClasses``; the weight
/// of each bin, [bins].
private struct ClassWeights: HostOperation, DeviceOperation {
    static let name = "class_weights"
    let targets: ClassTargets

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 3...3)
        try require(inputs[2] == [targets.bins.count], "each bin needs a weight")
        return try targets.shape(inputs, channels: 1)
    }

    func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        try targets.evaluate(.classWeights, inputs)
    }

    /// A block for each image: an image without colors has no weight.
    func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let shape = inputs[0].shape
        let (images, values) = (shape[0], 2 * shape[2] * shape[3])
        let cells = output.count / images
        let neutral = targets.neutral
        return [
            DeviceKernel(
                Self.name, inputs + [output], .blocks(images, threads: 256),
                """
                RT_BLOCKS(n, \(images)) {
                    float largest = 0.0f;
                    RT_STRIDED(j, \(values))
                        largest = fmaxf(largest, fabsf(p0[n * \(values) + j]));
                    largest = rt_block_max(largest);
                    const bool isGray =
                        largest * \(LabScaling.colorRange)f <= \(ClassTargets.grayBound)f;
                    RT_STRIDED(j, \(cells)) {
                        const long long cell = n * \(cells) + j;
                \(targets.colorSource(shape))
                \(targets.nearestSource(1))
                        const float chroma = sqrtf(a * a + b * b);
                        const float more =
                            \(Float(neutral.weight))f
                            * rt_max(0.0f, 1.0f - chroma / \(Float(neutral.chroma))f);
                        p3[cell] = isGray ? 0.0f : p2[bins[0]] * (1.0f + more);
                    }
                }
                """)
        ]
    }
}
