import Engine

/// How the performance of a model is measured.
public struct PerformanceOptions: Sendable {
    /// The side of the square images in pixels; nil for a package's own size and 256 for a
    /// checkpoint.
    public var size: Int?
    /// The number of threads; nil for all processors that the process may use.
    public var threads: Int?
    /// How long each model predicts, in seconds; at least one prediction is measured.
    public var seconds = 10.0
    /// The number of predictions of each model; nil for as many as fit in ``seconds``.
    public var runs: Int?
    /// The rate of the live source in frames per second.
    public var fps = 30.0
    /// A film whose first frames each model colors, for ``seconds`` at most; nil for none. Its name
    /// ends in `.y4m`, or it is read with FFmpeg.
    public var film: String?
    /// The fastest convolution algorithms on this machine, see ``KernelFile``.
    public var choices = KernelChoices()

    /// The default options.
    public init() {}
}

extension PerformanceOptions {
    var compileOptions: CompileOptions {
        var options = CompileOptions(threads: threads)
        options.choices = choices
        return options
    }

    /// - Throws: ``BenchmarkError`` if an option is out of range.
    func check() throws(BenchmarkError) {
        try check("size", size, 1...16384)
        try check("threads", threads, 1...1024)
        try check("seconds", seconds, 0.01...3600)
        try check("runs", runs, 1...1_000_000)
        try check("fps", fps, 0.1...1000)
    }

    private func check<Value>(
        _ name: String, _ value: Value?, _ range: ClosedRange<Value>
    ) throws(BenchmarkError) {
        // NaN is in no range.
        guard let value, !range.contains(value) else { return }
        throw BenchmarkError(
            .option,
            "\(name) \(value): must be from \(range.lowerBound) to \(range.upperBound)")
    }
}
