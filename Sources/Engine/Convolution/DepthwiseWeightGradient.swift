import CKernels
import TensorGraph

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
