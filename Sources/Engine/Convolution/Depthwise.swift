import CKernels
import TensorGraph

/// Depthwise convolution, every channel with its own kernel, and its transpose.
final class DepthwiseKernel: RowKernel {
    private let weight: Buffer
    /// Whether outputs gather what inputs scatter; at stride 1 that is a convolution as well.
    private let scatters: Bool
    private let turns: Bool
    private let places: Int
    private static let nearFloats = 1 << 13

    /// - Parameter geometry: of the convolution; for a transposed one, of that whose transpose it
    ///   is: its input is our output.
    init(
        name: String, geometry: rt_conv, x: Buffer, weight: Buffer, output: Buffer,
        isTransposed: Bool = false
    ) {
        self.weight = weight
        let turned = isTransposed ? geometry.turned : nil
        turns = turned != nil
        scatters = isTransposed && turned == nil
        // A stride is counted once: by what a convolution gives, by what its transpose takes.
        places = isTransposed ? x.count : output.count
        super.init(
            name: name, work: max(x.count, output.count) * geometry.taps,
            geometry: turned ?? geometry, x: x, output: output)
    }

    override var multiplyAdds: Int { places * geometry.taps }
    override func ownWorkspaceCount(threads: Int) -> Int { threads * weight.count }
    override var takesTail: Bool { !scatters }
    override var chains: Bool { !scatters }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        prepare(part: part, workspace)
        let place = Place(x: UnsafePointer(x.pointer), y: output.pointer)
        let line = output.shape[3] * output.shape[1]
        let own = part.range(output.shape[0] * output.shape[2])
        // A few rows at a time, so that the epilogue finds its numbers in the cache.
        let step = max(Self.nearFloats / line, 1)
        for row in stride(from: own.lowerBound, to: own.upperBound, by: step) {
            let end = min(row + step, own.upperBound)
            compute(row..<end, at: place, part: part, workspace)
            finish((row * line)..<(end * line), thread: part.index)
        }
    }

    override func prepare(part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        rt_depthwise_weights(
            weights(part, workspace), weight.pointer, geometry.channels, Int32(geometry.taps),
            turns ? 1 : 0)
    }

    override func compute(
        _ rows: Range<Int>, at place: Place, part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        let (weights, end) = (weights(part, workspace), rows.upperBound)
        guard !scatters else {
            return rt_depthwise_input(
                place.y, place.x, weights, &geometry, rows.lowerBound, end)
        }
        withTail {
            rt_depthwise(place.y, place.x, weights, &geometry, rows.lowerBound, end, $0)
        }
    }

    /// Each thread lays out weights of its own.
    private func weights(
        _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        workspace + part.index * weight.count
    }
}

extension rt_conv {
    /// The convolution, with its kernel turned by 180°, that the transpose of this one is; nil if
    /// it is none.
    fileprivate var turned: rt_conv? {
        var turned = self
        turned.pad_top = dilation_height * (kernel_height - 1) - pad_top
        turned.pad_left = dilation_width * (kernel_width - 1) - pad_left
        guard stride_height == 1, stride_width == 1, turned.pad_top >= 0, turned.pad_left >= 0
        else { return nil }
        (turned.height, turned.width) = (out_height, out_width)
        (turned.out_height, turned.out_width) = (height, width)
        return turned
    }
}

/// The gradient of depthwise weights: each thread sums over its rows, then the sums are added.
final class DepthwiseWeightKernel: Kernel {
    private let x: Buffer
    private let dy: Buffer
    private let output: Buffer
    private var geometry: rt_conv

    init(name: String, geometry: rt_conv, x: Buffer, dy: Buffer, output: Buffer) {
        self.geometry = geometry
        self.x = x
        self.dy = dy
        self.output = output
        super.init(name: name, work: dy.count * geometry.taps)
    }

    override var multiplyAdds: Int { dy.count * geometry.taps }
    override func workspaceCount(threads: Int) -> Int { threads * output.count }
    override var phases: Int { 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        if phase == 0 {
            let own = workspace + part.index * output.count
            own.update(repeating: 0, count: output.count)
            let range = part.range(dy.shape[0] * dy.shape[2])
            rt_depthwise_weight(
                own, x.pointer, dy.pointer, &geometry, range.lowerBound, range.upperBound)
        } else if part.index == 0 {
            addPartials(workspace, threads: part.of)
        }
    }

    private func addPartials(_ partials: UnsafePointer<Float>, threads: Int) {
        let (channels, taps) = (Int(geometry.channels), geometry.taps)
        for channel in 0..<channels {
            for tap in 0..<taps {
                var sum: Float = 0
                for thread in 0..<threads {
                    sum += partials[thread * output.count + tap * channels + channel]
                }
                output.pointer[channel * taps + tap] = sum
            }
        }
    }
}

extension rt_conv {
    var taps: Int { Int(kernel_height * kernel_width) }
}
