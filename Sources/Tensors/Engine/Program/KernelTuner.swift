import RetintGraph
import RetintLocks

/// Measures the convolutions of each program that is compiled with it, each convolution once.
public final class KernelTuner: Sendable {
    private let known: Mutex<KernelChoices>
    private let report:
        @Sendable (_ task: String, _ seconds: [(algorithm: String, seconds: Double)]) -> Void

    /// Creates a tuner.
    ///
    /// - Parameters:
    ///   - known: existing choices.
    ///   - report: called for each convolution that is measured, with its seconds by algorithm.
    public init(
        _ known: KernelChoices = .init(),
        report: @escaping @Sendable (String, [(algorithm: String, seconds: Double)]) -> Void = {
            _, _ in
        }
    ) {
        self.known = Mutex(known)
        self.report = report
    }

    /// The choices measured so far.
    public var choices: KernelChoices { known.withLock { $0 } }

    func choices(
        for outputs: [(name: String, value: Tensor)], _ options: CompileOptions
    ) throws(GraphError) -> KernelChoices {
        var options = options
        options.tuner = nil
        var choices = choices
        try choices.measure(outputs: outputs, options: options, report: report)
        known.withLock { [choices] in $0 = choices }
        return choices
    }

    /// Keeps the fastest algorithm of a convolution that was measured on a GPU.
    func add(_ task: String, _ seconds: [(algorithm: String, seconds: Double)]) {
        known.withLock { $0.add(task, seconds) }
        report(task, seconds)
    }
}
