import CRetintKernels
import RetintCompiler
import RetintGraph

/// The gradient of depthwise weights: each thread sums over its rows, then the partial sums are
/// added.
final class DepthwiseWeightKernel: Kernel {
    private let x: Buffer
    private let dy: Buffer
    private let output: Buffer
    private let geometry: rt_conv

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
            var geometry = geometry
            let own = workspace + part.index * output.count
            own.update(repeating: 0, count: output.count)
            let range = part.range(dy.shape[0] * dy.shape[2])
            rt_depthwise_weight(
                own, x.pointer, dy.pointer, &geometry, range.lowerBound, range.upperBound)
        } else {
            addPartials(workspace, part)
        }
    }

    private func addPartials(_ partials: UnsafePointer<Float>, _ part: Part) {
        let (channels, taps, count) = (Int(geometry.channels), geometry.taps, output.count)
        let target = output.pointer
        for channel in part.range(channels) {
            for tap in 0..<taps {
                var sum: Float = 0
                for thread in 0..<part.of {
                    sum += partials[thread * count + tap * channels + channel]
                }
                target[channel * taps + tap] = sum
            }
        }
    }
}
