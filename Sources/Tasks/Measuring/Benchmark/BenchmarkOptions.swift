import RetintDistributed
import RetintEngine
public import RetintFiles
import RetintRuntime

/// How a model is measured.
public struct BenchmarkOptions: Sendable {
    /// What is measured.
    public enum Mode: String, CaseIterable, Sendable {
        /// The model colorizes a batch.
        case inference
        /// A training step: forward pass, L2 loss, backward pass, Adam.
        case training
    }

    /// Whether inference or training is measured.
    public var mode = Mode.inference
    /// The number of images in a batch; of all ranks together.
    public var batch = 1
    /// The processes that train together.
    public var ranks = Communicator.single
    /// The side of the square images in pixels; nil for the model's own size, or 256 in
    /// training.
    public var size: Int?
    /// The number of timed runs; nil for as many as fit in two seconds, but at least 5.
    public var runs: Int?
    /// Whether Winograd convolution is used where it is faster.
    public var usesWinograd = true
    /// Whether training recomputes normalized activations to save memory.
    public var recomputes = false
    /// Measures the convolution algorithms first; nil to use those of the model's
    /// `Execution/kernels`.
    public var tuner: KernelTuner?
    /// Whether the report lists times per type of operation.
    public var profilesOperations = false
    /// Whether the report lists the time of every step of the program.
    public var profilesSteps = false
    /// The numbers of threads that a run is predicted for, each within the range of `Execution`.
    public var predictedThreads: [Int] = []

    /// The default options.
    public init() {}
}

extension BenchmarkOptions {
    func compileOptions(_ execution: Execution) -> CompileOptions {
        var options = execution.compileOptions
        options.winograd = usesWinograd ? .whereFaster : .never
        (options.tuner, options.recomputes) = (tuner, recomputes)
        options.communicator = ranks
        return options
    }

    func check(_ execution: Execution) throws(BenchmarkError) {
        let largest = Self.batchRange.upperBound
        try BenchmarkError.check("batch", batch, min(ranks.size, largest)...largest)
        try BenchmarkError.check("size", size, Model.sideRange)
        for threads in [execution.threads] + predictedThreads {
            try BenchmarkError.check("threads", threads, Execution.threadRange)
        }
        try BenchmarkError.check("runs", runs, Self.runRange)
    }

    /// The allowed batch sizes.
    public static let batchRange = 1...65_536
    /// The allowed numbers of timed runs.
    public static let runRange = 1...1_000_000
}

/// Why a model cannot be measured as requested.
public typealias BenchmarkError = Refusal<BenchmarkProblem>

/// What keeps a model from being measured.
public enum BenchmarkProblem: RefusalKind {
    /// An option is out of range.
    case option
    /// The model is a package, which cannot be trained.
    case notTrainable
    /// A file does not contain a measurement of several ranks.
    case measurements

    /// The caller chose the options and the model.
    public var fault: Fault {
        switch self {
        case .option, .notTrainable: .usage
        case .measurements: .input
        }
    }
}

extension BenchmarkError {
    /// Throws if an option is out of range (NaN always is); nil passes.
    static func check<Value>(
        _ name: String, _ value: Value?, _ range: ClosedRange<Value>
    ) throws(BenchmarkError) {
        guard let value, !range.contains(value) else { return }
        throw BenchmarkError(
            .option,
            "\(name) \(value): must be from \(range.lowerBound) to \(range.upperBound)")
    }
}
