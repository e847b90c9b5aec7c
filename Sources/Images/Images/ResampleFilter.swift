import CRetintImageCodecs
import Glibc

/// How samples are weighted when an image is resized. When it shrinks, the kernel is stretched to
/// average all samples.
public enum ResampleFilter: String, CaseIterable, Hashable, Sendable {
    /// The mean of the samples that a pixel covers.
    case box
    /// A triangle: linear interpolation.
    case bilinear
    /// Catmull–Rom: the cubic convolution kernel with a = −0.5.
    case bicubic
    /// The sinc function, windowed to three lobes.
    case lanczos

    /// The radius of the kernel in samples.
    var support: Double {
        switch self {
        case .box: 0.5
        case .bilinear: 1
        case .bicubic: 2
        case .lanczos: 3
        }
    }

    func weight(at x: Double) -> Double {
        switch self {
        case .box: x > -0.5 && x <= 0.5 ? 1 : 0
        case .bilinear: max(1 - abs(x), 0)
        case .bicubic: bicubicWeight(abs(x))
        case .lanczos: x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0
        }
    }
}

private func bicubicWeight(_ x: Double) -> Double {
    let a = -0.5
    if x < 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0
}

private func sinc(_ x: Double) -> Double {
    x == 0 ? 1 : sin(x * .pi) / (x * .pi)
}

/// The inputs of each output sample of a line and their weights, as in Pillow: centers at (i + ½) ·
/// scale, a kernel stretched by the scale when shrinking, weights that sum to 1 at the borders too.
struct ResamplePlan {
    private(set) var starts: [Int32] = []
    private(set) var counts: [Int32] = []
    /// `stride` weights for each output sample; those past its count are 0.
    private(set) var weights: [Double] = []
    private(set) var stride: Int

    init(from input: Int, to output: Int, filter: ResampleFilter) {
        let scale = Double(input) / Double(output)
        let stretch = max(scale, 1)
        let support = filter.support * stretch
        stride = Int(support.rounded(.up)) * 2 + 1
        weights.reserveCapacity(stride * output)
        for index in 0..<output {
            let center = (Double(index) + 0.5) * scale
            let start = max(Int(center - support + 0.5), 0)
            let end = min(Int(center + support + 0.5), input)
            append(start..<end) { filter.weight(at: (Double($0) - center + 0.5) * (1 / stretch)) }
        }
    }

    private mutating func append(_ window: Range<Int>, weight: (Int) -> Double) {
        starts.append(Int32(window.lowerBound))
        counts.append(Int32(window.count))
        let raw = window.map(weight)
        let total = raw.reduce(0, +)
        weights += raw.map { total == 0 ? $0 : $0 / total }
        weights += repeatElement(0, count: stride - window.count)
    }

    /// The same plan with windows of multiples of `multiple` inputs, where the input is long
    /// enough: inputs of weight 0 cost less than a remainder loop.
    func padded(to multiple: Int, input: Int) -> ResamplePlan {
        let roomy = (stride + multiple - 1) / multiple * multiple
        var result = self
        result.stride = roomy
        result.weights = []
        result.weights.reserveCapacity(roomy * counts.count)
        for index in counts.indices {
            let (start, count) = (Int(starts[index]), Int(counts[index]))
            let whole = min((count + multiple - 1) / multiple * multiple, input)
            let newStart = min(start, input - whole)
            result.starts[index] = Int32(newStart)
            result.counts[index] = Int32(whole)
            result.weights += repeatElement(0, count: start - newStart)
            result.weights += weights[stride * index..<stride * index + count]
            result.weights += repeatElement(0, count: roomy - count - (start - newStart))
        }
        return result
    }

    /// The weights in fixed point, rounded to nearest, each repeated `times` times.
    func integerWeights(repeating times: Int) -> [Int32] {
        let one = Double(1 << RESAMPLE_PRECISION_BITS)
        return weights.flatMap { weight in
            repeatElement(Int32(weight * one + (weight < 0 ? -0.5 : 0.5)), count: times)
        }
    }
}

/// The bytes of a line that each byte of a resized line is the sum of, as `Image.resized` weights
/// them.
package struct ByteTaps: Sendable {
    /// The first byte and the weights of the following ones, for each byte of the result.
    package private(set) var windows: [(start: Int, weights: ArraySlice<Int32>)]

    /// The binary digits of weights after the point.
    package static let precisionBits = Int(RESAMPLE_PRECISION_BITS)

    /// - Precondition: the lengths are positive.
    package init(from input: Int, to output: Int, filter: ResampleFilter) {
        precondition(input > 0 && output > 0, "cannot resize \(input) bytes to \(output)")
        let plan = ResamplePlan(from: input, to: output, filter: filter)
        let weights = plan.integerWeights(repeating: 1)
        windows = plan.starts.indices.map { index in
            let first = plan.stride * index
            return (Int(plan.starts[index]), weights[first..<first + Int(plan.counts[index])])
        }
    }

    /// The same for a line that begins later in a longer one.
    package func moved(by distance: Int) -> ByteTaps {
        var result = self
        for index in windows.indices { result.windows[index].start += distance }
        return result
    }

    /// A weighted sum, rounded to a byte.
    package static func byte(of sum: Int32) -> Int32 {
        let half = Int32(1) << (precisionBits - 1)
        return min(max((sum + half) >> Int32(precisionBits), 0), 255)
    }
}
