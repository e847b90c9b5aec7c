import RetintEngine
import RetintGraph
import RetintTensors

/// A part of a weight whose elements are all multiplied by the same input patches: the whole weight
/// of a plain convolution or a matrix product, one group of a grouped convolution, and one phase
/// (output position modulo the stride) of a transposed one.
struct WeightPart {
    /// The output channels that this part computes.
    let channels: Range<Int>
    /// The index in the weight of each output channel's first element.
    let rows: [Int]
    /// The offset of each element of an output channel from that index.
    let features: [Int]
    /// The input that each feature is multiplied by: a channel, and a position relative to the
    /// patch.
    private let taps: [Tap]
    /// The distance between patches in the input, in pixels.
    private let step: Pair
    /// The number of patches along each axis.
    private let positions: Pair
    /// Whether each row of the input's last axis is a patch.
    private var takesRows = false

    private struct Tap {
        let channel: Int
        let row: Int
        let column: Int
    }
}

extension WeightPart {
    /// The parts of a convolution's weight [Cout, Cin/groups, KH, KW].
    static func parts(_ operation: Convolution, _ weight: Shape, output: Shape) -> [WeightPart] {
        let window = operation.window
        let (area, inner) = (weight[2] * weight[3], weight[1] * weight[2] * weight[3])
        let height = weight[0] / operation.groups
        return (0..<operation.groups).map { group in
            WeightPart(
                channels: group * height..<(group + 1) * height,
                rows: (0..<height).map { (group * height + $0) * inner },
                features: Array(0..<inner),
                taps: (0..<inner).map { index in
                    Tap(
                        channel: group * weight[1] + index / area,
                        row: index % area / weight[3] * window.dilation.height
                            - window.padding.top,
                        column: index % weight[3] * window.dilation.width - window.padding.left)
                },
                step: window.stride, positions: Pair(output[2], output[3]))
        }
    }

    /// The part of the second operand of a matrix product, [K, N], or [N, K] if it is transposed;
    /// nil for another one.
    static func parts(_ operation: MatMul, _ weight: Shape) -> [WeightPart]? {
        guard !operation.transposeX, weight.rank == 2 else { return nil }
        let (inner, columns) =
            operation.transposeY ? (weight[1], weight[0]) : (weight[0], weight[1])
        return [
            WeightPart(
                channels: 0..<columns,
                rows: (0..<columns).map { operation.transposeY ? $0 * inner : $0 },
                features: (0..<inner).map { operation.transposeY ? $0 : $0 * columns },
                taps: (0..<inner).map { Tap(channel: $0, row: 0, column: 0) }, step: 1,
                positions: 1, takesRows: true)
        ]
    }

    /// The parts of a transposed convolution's weight [Cin, Cout/groups, KH, KW].
    static func parts(
        _ operation: ConvolutionTranspose, _ weight: Shape, output: Shape
    ) -> [WeightPart] {
        let stride = operation.window.stride
        let phases = (0..<stride.height).flatMap { row in
            (0..<stride.width).map { Pair(row, $0) }
        }
        return (0..<operation.groups).flatMap { group in
            phases.compactMap { part(operation, weight, output, group: group, phase: $0) }
        }
    }

    /// Returns nil if no kernel element contributes to this phase of the output.
    private static func part(
        _ operation: ConvolutionTranspose, _ weight: Shape, _ output: Shape, group: Int, phase: Pair
    ) -> WeightPart? {
        let window = operation.window
        let (area, height) = (weight[2] * weight[3], weight[0] / operation.groups)
        var (features, taps) = ([Int](), [Tap]())
        for channel in group * height..<(group + 1) * height {
            for position in 0..<area {
                let row =
                    phase.height + window.padding.top
                    - position / weight[3] * window.dilation.height
                let column =
                    phase.width + window.padding.left
                    - position % weight[3] * window.dilation.width
                guard row.isMultiple(of: window.stride.height),
                    column.isMultiple(of: window.stride.width)
                else { continue }
                features.append(channel * weight[1] * area + position)
                taps.append(
                    Tap(
                        channel: channel, row: row / window.stride.height,
                        column: column / window.stride.width))
            }
        }
        guard !features.isEmpty, phase.height < output[2], phase.width < output[3] else {
            return nil
        }
        return WeightPart(
            channels: group * weight[1]..<(group + 1) * weight[1],
            rows: (0..<weight[1]).map { $0 * area }, features: features, taps: taps, step: 1,
            positions: Pair(
                (output[2] - phase.height - 1) / window.stride.height + 1,
                (output[3] - phase.width - 1) / window.stride.width + 1))
    }
}

extension WeightPart {
    /// Input patches sampled at positions spread over the images, one per row.
    ///
    /// - Parameters:
    ///   - input: [N, C, H, W]; [..., K] for a matrix product.
    ///   - limit: the maximum number of patches.
    /// - Returns: [patches, features]; inputs in the padding are 0.
    func patches(of input: TensorData, limit: Int) -> DenseMatrix {
        let shape: Shape =
            takesRows ? [input.shape.count / features.count, features.count, 1, 1] : input.shape
        let area = positions.height * positions.width
        let total = shape[0] * area
        let count = min(limit, total)
        var patches = DenseMatrix(rows: count, columns: features.count)
        for sample in 0..<count {
            let position = Self.spreadPosition(sample, count, total)
            let row = position % area / positions.width * step.height
            let column = position % positions.width * step.width
            let first = position / area * shape[1]
            for (index, tap) in taps.enumerated() {
                let (y, x) = (row + tap.row, column + tap.column)
                guard y >= 0, y < shape[2], x >= 0, x < shape[3] else { continue }
                let plane = (first + tap.channel) * shape[2]
                patches.scalars[sample * features.count + index] =
                    input.scalars[(plane + y) * shape[3] + x]
            }
        }
        return patches
    }

    /// A pseudorandom but reproducible position in interval `sample` of `count` equal intervals of
    /// `total` positions.
    private static func spreadPosition(_ sample: Int, _ count: Int, _ total: Int) -> Int {
        let (first, next) = (sample * total / count, (sample + 1) * total / count)
        let mixed = (UInt64(sample) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        return first + Int(mixed >> 33) % max(next - first, 1)
    }
}
