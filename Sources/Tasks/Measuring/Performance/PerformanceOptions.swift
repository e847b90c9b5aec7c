import RetintEngine
import RetintRuntime

/// How the performance of a model is measured.
public struct PerformanceOptions: Sendable {
    /// The side of the square images in pixels; nil for a package's own size and 256 for a
    /// checkpoint.
    public var size: Int?
    /// How long each model predicts, in seconds; at least one prediction is measured.
    public var seconds = 10.0
    /// The number of predictions of each model; nil for as many as fit in ``seconds``.
    public var runs: Int?
    /// The rate of the live source in frames per second.
    public var fps = 30.0
    /// A video whose first frames each model colors, for at most ``seconds``; nil for none. It is
    /// read with FFmpeg unless its name ends in `.y4m`.
    public var video: String?
    /// How the models run.
    public var execution = Execution()

    /// The default options.
    public init() {}
}

extension PerformanceOptions {
    /// A model with its own inputs and outputs, unless it is to color a video.
    func model(at path: String) throws -> Model {
        try Model(
            contentsOf: path, form: video == nil ? .file : .colorizer, execution: execution)
    }

    /// A model compiled for the size.
    func program(_ model: Model) throws -> SampledProgram {
        try SampledProgram(model, size: size)
    }

    /// - Throws: ``BenchmarkError`` if an option is out of range.
    func check() throws(BenchmarkError) {
        try BenchmarkError.check("size", size, Model.sideRange)
        try BenchmarkError.check("threads", execution.threads, Execution.threadRange)
        try BenchmarkError.check("seconds", seconds, 0.01...3600)
        try BenchmarkError.check("runs", runs, BenchmarkOptions.runRange)
        try BenchmarkError.check("fps", fps, 0.1...1000)
    }
}
