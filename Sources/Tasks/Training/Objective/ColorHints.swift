import Glibc
import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensors

/// Color hints as drawn for "Real-Time User-Guided Image Colorization" (Zhang et al. 2017, section
/// 3.2): squares of 1 to 9 pixels a side that carry their mean color. Their number is geometric
/// with p = 1/8; their centers are normally distributed around the center of the image. One image
/// in a hundred has the color of every pixel as a hint.
struct ColorHints {
    private static let endProbability = 0.125
    private static let allPixelsProbability = 0.01

    /// - Parameters:
    ///   - target: a and b divided by 110, [N, 2, H, W].
    ///   - randoms: a stream for each image.
    /// - Returns: hints, a and b, [N, 2, H, W], and their mask, [N, 1, H, W].
    static func inputs(
        for target: TensorData, _ randoms: [RandomStream]
    ) -> [StepInput: TensorData] {
        let (count, height, width) = (target.shape[0], target.shape[2], target.shape[3])
        let area = height * width
        var hints = [Float](repeating: 0, count: 2 * count * area)
        var mask = [Float](repeating: 0, count: count * area)
        for (example, random) in randoms.enumerated() {
            var random = random
            for square in squares(&random, height: height, width: width) {
                let pixels = square.pixels(width: width)
                for channel in 0..<2 {
                    let base = (2 * example + channel) * area
                    let sum = pixels.reduce(0) { $0 + target.scalars[base + $1] }
                    let mean = sum / Float(pixels.count) * LabScaling.colorRange
                    for pixel in pixels { hints[base + pixel] = mean }
                }
                for pixel in pixels { mask[example * area + pixel] = 1 }
            }
        }
        return [
            .hints: TensorData(shape: target.shape, scalars: hints),
            .mask: TensorData(shape: [count, 1, height, width], scalars: mask),
        ]
    }

    private struct Square {
        let rows, columns: Range<Int>

        func pixels(width: Int) -> [Int] {
            rows.flatMap { row in columns.map { row * width + $0 } }
        }
    }

    private static func squares(
        _ random: inout RandomStream, height: Int, width: Int
    ) -> [Square] {
        if random.uniform() < allPixelsProbability {
            return (0..<height * width).map { pixel in
                let (row, column) = pixel.quotientAndRemainder(dividingBy: width)
                return Square(rows: row..<row + 1, columns: column..<column + 1)
            }
        }
        var squares: [Square] = []
        while random.uniform() > endProbability {
            let side = 1 + Int(random.next() % 9)
            squares.append(
                Square(
                    rows: range(&random, side, within: height),
                    columns: range(&random, side, within: width)))
        }
        return squares
    }

    /// `side` pixels around a normally distributed position.
    private static func range(
        _ random: inout RandomStream, _ side: Int, within extent: Int
    ) -> Range<Int> {
        let middle = Double(extent) * (0.5 + 0.25 * random.normal())
        let first = min(max(Int(middle) - side / 2, 0), extent - side)
        return first..<first + side
    }
}
