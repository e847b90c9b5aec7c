import RetintEngine

/// The result of `Model.benchmark(_:)`.
public struct BenchmarkReport: Encodable, Sendable {
    /// All steps of one type.
    public struct Operation: Encodable, Sendable {
        /// The fused operations, joined by `+`.
        public let name: String
        /// The number of steps of this type in the program.
        public let count: Int
        /// The time of all these steps in one run, in seconds.
        public let seconds: Double
        /// ``seconds`` divided by the time of all steps of the program.
        public let share: Double
        /// Billions of floating-point operations per second; 0 for steps without multiply-adds.
        public let gflops: Double
        /// Each operand and result counted once, as if nothing stayed in a cache.
        public let gigabytesPerSecond: Double
    }

    /// One step of the program.
    public struct Step: Encodable, Sendable {
        /// The fused operations, joined by `+`.
        public let name: String
        /// The path of the module that applied the first of them.
        public let module: String
        /// The shape of the result.
        public let shape: [Int]
        /// The median time of the step over several runs, in seconds.
        public let seconds: Double
        /// ``seconds`` divided by the time of all steps of the program.
        public let share: Double
        /// As ``BenchmarkReport/Operation/gflops``.
        public let gflops: Double
        /// As ``BenchmarkReport/Operation/gigabytesPerSecond``.
        public let gigabytesPerSecond: Double
    }

    /// The path of the model, or the name of its architecture.
    public let model: String
    /// `inference` or `training`.
    public let mode: String
    /// The number of images in a batch, of all ranks together.
    public let batch: Int
    /// The height of the images in pixels; nil if no images go in.
    public let height: Int?
    /// The width of the images in pixels; nil if no images go in.
    public let width: Int?
    /// The shapes of the inputs, by name.
    public let inputs: [String: [Int]]
    /// What computed; nil in reports that were saved before there was a choice.
    public let device: String?
    /// How convolutions multiplied, as `Arithmetic` says it.
    public let arithmetic: String
    /// The number of threads.
    public let threads: Int
    /// The number of timed runs.
    public let runs: Int
    /// The median time of a run.
    public let medianSeconds: Double
    /// The time of the fastest run.
    public let fastestSeconds: Double
    /// The images of a batch divided by ``medianSeconds``.
    public let imagesPerSecond: Double
    /// Multiply-adds of one run by the direct algorithms, for the whole batch or this rank's part.
    public let multiplyAdds: Int
    /// The bytes of the weights in float32: the least that a run reads, in addition to the images.
    public let weightBytes: Int
    /// Two floating-point operations for each of ``multiplyAdds``, in billions
    /// per second. Algorithms with fewer multiplications, such as Winograd's, can exceed
    /// ``sgemmGflops``.
    public let gflops: Double
    /// The speed of large matrix products on this machine; nil on another device than the CPU.
    public let sgemmGflops: Double?
    /// ``gflops`` divided by ``sgemmGflops``.
    public let sgemmShare: Double?
    /// The speed of copies on this machine; nil on another device than the CPU.
    public let copyGigabytesPerSecond: Double?
    /// The peak memory of the process; nil where the system does not report it.
    public let peakBytes: Int?
    /// The memory of intermediate results, on a GPU with that of its libraries.
    public let arenaBytes: Int
    /// The processor for which OpenBLAS chose its kernels; nil on another device than the CPU.
    public let blasCore: String?
    /// The library whose kernels multiplied matrices: `retint` or `OpenBLAS`; nil on another device
    /// than the CPU.
    public let sgemmKernels: String?
    /// The most expensive type first; nil unless requested.
    public let operations: [Operation]?
    /// In the order of the program; nil unless requested.
    public let steps: [Step]?
    /// What a run is predicted to take on other numbers of threads; nil unless requested.
    public let threadPredictions: [ThreadPrediction]?
    /// The measurement of several ranks; nil for a single one.
    public let ranks: BenchmarkReport.RankReport?
}

extension BenchmarkReport.Operation {
    /// Adds up the steps of each type, the most expensive type first.
    static func summary(of steps: [StepProfile]) -> [Self] {
        let total = steps.seconds
        return Dictionary(grouping: steps, by: \.name).map { name, steps in
            let seconds = steps.seconds
            let products = Double(steps.reduce(0) { $0 + $1.multiplyAdds })
            let bytes = Double(steps.reduce(0) { $0 + $1.bytes })
            return Self(
                name: name, count: steps.count, seconds: seconds, share: seconds.share(of: total),
                gflops: seconds > 0 ? 2e-9 * products / seconds : 0,
                gigabytesPerSecond: seconds > 0 ? 1e-9 * bytes / seconds : 0)
        }.sorted { ($0.seconds, $1.name) > ($1.seconds, $0.name) }
    }
}

extension BenchmarkReport.Step {
    /// All steps of a program.
    static func list(_ steps: [StepProfile]) -> [Self] {
        let total = steps.seconds
        return steps.map { Self($0, of: total) }
    }

    /// - Parameter total: the seconds of all steps.
    private init(_ step: StepProfile, of total: Double) {
        (name, module, shape) = (step.name, step.module, step.shape.dimensions)
        (seconds, share) = (step.seconds, step.seconds.share(of: total))
        gflops = seconds > 0 ? 2e-9 * Double(step.multiplyAdds) / seconds : 0
        gigabytesPerSecond = seconds > 0 ? 1e-9 * Double(step.bytes) / seconds : 0
    }
}

extension [StepProfile] {
    /// The time of all steps.
    var seconds: Double { reduce(0) { $0 + $1.seconds } }
}

extension Double {
    fileprivate func share(of total: Double) -> Double { total > 0 ? self / total : 0 }
}
