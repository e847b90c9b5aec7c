import Engine
import TensorGraph

/// Those numbers of a convolution's weight that are multiplied by the same inputs: all of an
/// output channel in a plain convolution; of its group in a grouped one; those of one phase in a
/// transposed one.
struct WeightPart {
    /// The output channels that it gives.
    let channels: Range<Int>
    /// Where the numbers of each output channel begin in the weight.
    let rows: [Int]
    /// Where each number of an output channel stands from there on.
    let features: [Int]
    /// What each of them is multiplied by: an input channel, and the place relative to the patch.
    private let taps: [Tap]
    /// How far apart patches lie in the input, and how many there are.
    private let step: Pair
    private let positions: Pair

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

    /// Nil where a phase of the output is reached by no number of the kernel.
    private static func part(
        _ operation: ConvolutionTranspose, _ weight: Shape, _ output: Shape, group: Int, phase: Pair
    ) -> WeightPart? {
        let window = operation.window
        let (area, height) = (weight[2] * weight[3], weight[0] / operation.groups)
        var (features, taps) = ([Int](), [Tap]())
        for channel in group * height..<(group + 1) * height {
            for place in 0..<area {
                let row =
                    phase.height + window.padding.top - place / weight[3] * window.dilation.height
                let column =
                    phase.width + window.padding.left - place % weight[3] * window.dilation.width
                guard row.isMultiple(of: window.stride.height),
                    column.isMultiple(of: window.stride.width)
                else { continue }
                features.append(channel * weight[1] * area + place)
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
    /// What the numbers are multiplied by in some places of a picture, one row each.
    ///
    /// - Parameters:
    ///   - input: [N, C, H, W].
    ///   - limit: at most so many places, spread over all there are.
    func patches(of input: TensorData, limit: Int) -> DenseMatrix {
        let shape = input.shape
        let area = positions.height * positions.width
        let total = shape[0] * area
        let count = min(limit, total)
        var patches = DenseMatrix(rows: count, columns: features.count)
        for sample in 0..<count {
            let place = Self.spread(sample, count, total)
            let row = place % area / positions.width * step.height
            let column = place % positions.width * step.width
            let first = place / area * shape[1]
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

    /// One place of each of `count` equal stretches of all; always the same, and in no pattern.
    private static func spread(_ sample: Int, _ count: Int, _ total: Int) -> Int {
        let (first, next) = (sample * total / count, (sample + 1) * total / count)
        let mixed = (UInt64(sample) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        return first + Int(mixed >> 33) % max(next - first, 1)
    }
}
