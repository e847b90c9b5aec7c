import RetintGraph
import RetintTensors

/// The time of a step of a program.
public struct StepProfile: Sendable {
    /// The fused operations, joined by "+".
    public let name: String
    /// The module that applied the first of them.
    public let module: String
    /// The shape of the result.
    public let shape: Shape
    /// The median of several runs.
    public package(set) var seconds: Double
    /// Multiply-adds of one run.
    public let multiplyAdds: Int
    /// The minimum to read and write: each operand and each result once.
    public let bytes: Int
}

extension Program {
    /// Times every step of several runs; inputs keep the values of the last run.
    ///
    /// - Parameter runs: the number of runs; each step's time is the median.
    public func profile(runs: Int = 5) -> [StepProfile] {
        let clock = ContinuousClock()
        var seconds = steps.map { _ in [Double]() }
        withExecutor { executor in
            executor.prepare()
            for _ in 0..<runs {
                let counted = executor.stepSeconds()
                for index in steps.indices {
                    seconds[index].append(
                        counted?[index]
                            ?? clock.measure { executor.run(step: index) } / .seconds(1))
                }
            }
        }
        return zip(steps, seconds).map { step, seconds in
            StepProfile(
                name: step.kernel.name, module: step.module, shape: step.shape,
                seconds: seconds.median, multiplyAdds: step.kernel.multiplyAdds,
                bytes: step.traffic * MemoryLayout<Float>.size)
        }
    }
}
