import RetintEngine
import RetintFiles
import RetintRuntime

extension PerformanceReport {
    /// Measures whether a model is fast enough for video on this machine, and where its time goes.
    ///
    ///     let report = try await PerformanceReport(of: "model.h5")
    ///     print(report.model.live.inTimeShare, "of the frames are colored in time")
    ///
    /// The measurement starts with the model's file, because users also wait for reading it. Two
    /// models alternate in every measurement, so that a disturbance affects both. A colorizer
    /// predicts a and b from lightness; any other model runs on random values. Measuring with a
    /// video also includes reading, resizing and painting frames.
    ///
    /// - Parameters:
    ///   - path: a checkpoint, a package or an ONNX file.
    ///   - other: a model to compare with.
    ///   - options: the size, how models run, how long to predict, the live source's rate, a video.
    ///   - onProgress: called on another thread.
    /// - Throws: ``BenchmarkError`` if an option is out of range; the errors of
    ///   `Model(contentsOf:)` for a file that is missing or damaged; `ModelError` if a model is not
    ///   a colorizer and a video is given, does not run at the size or returns colors that are not
    ///   finite; `CancellationError` if the task is cancelled.
    public init(
        of path: some PathConvertible, against other: (any PathConvertible)? = nil,
        _ options: PerformanceOptions = .init(),
        onProgress: @escaping @Sendable (PerformanceReport.Progress) -> Void = { _ in }
    ) async throws {
        try options.check()
        let paths = [path.filePath.string] + (other.map { [$0.filePath.string] } ?? [])
        let run = PerformanceRun(paths: paths, options: options, onProgress: onProgress)
        let videos = try await run.videos()
        self = try await onNewThread { isCancelled in try run.report(videos, isCancelled) }
    }
}

/// One measurement, step by step.
private struct PerformanceRun: Sendable {
    private static let startupRounds = 5

    let paths: [String]
    let options: PerformanceOptions
    let onProgress: @Sendable (PerformanceReport.Progress) -> Void

    /// The results of each model for the video.
    func videos() async throws -> [PerformanceReport.VideoPerformance?] {
        guard let video = options.video else { return paths.map { _ in nil } }
        var videos: [PerformanceReport.VideoPerformance?] = []
        for path in paths {
            onProgress(.coloredVideo(models: videos.count, total: paths.count))
            let model = try options.model(at: path)
            videos.append(
                try await PerformanceReport.VideoPerformance.measured(model, video: video, options))
        }
        onProgress(.coloredVideo(models: videos.count, total: paths.count))
        return videos
    }

    func report(
        _ videos: [PerformanceReport.VideoPerformance?], _ isCancelled: () -> Bool
    ) throws -> PerformanceReport {
        try warmUp()
        let memory = try paths.map { try PerformanceReport.PeakMemory.measured($0, options) }
        let startups = try startups(isCancelled)
        let models = try paths.map(options.model)
        let programs = try models.map(options.program)
        let (seconds, otherShare) = try predictions(programs, isCancelled)
        let profiles = try profiles(programs, isCancelled)
        let performances = try models.indices.map { index in
            let measured = MeasuredModel(
                model: models[index], size: options.size, program: programs[index],
                startup: startups[index],
                memory: memory[index], seconds: seconds[index], profile: profiles[index],
                video: videos[index])
            return try measured.performance(fps: options.fps)
        }
        return report(performances, threads: programs[0].program.program.threads, otherShare)
    }

    /// Runs each model once: the first run in a process also creates the threads, and reads the
    /// libraries' pages.
    private func warmUp() throws {
        for path in paths {
            try options.program(options.model(at: path)).predict()
        }
    }

    private func startups(_ isCancelled: () -> Bool) throws -> [PerformanceReport.Startup] {
        var measurements = paths.map { StartupMeasurement($0, options) }
        try rounds(Self.startupRounds, isCancelled, PerformanceReport.Progress.started) { _ in
            for index in measurements.indices { try measurements[index].addRound() }
        }
        return measurements.map(\.result)
    }

    private func predictions(
        _ programs: [SampledProgram], _ isCancelled: () -> Bool
    ) throws -> (seconds: [[Double]], otherShare: Double?) {
        var timing = PredictionTiming(count: programs.count, options)
        let start = ProcessorTime()
        try rounds(timing.turns, isCancelled, PerformanceReport.Progress.predicted) { turn in
            try timing.addTurn(turn, programs)
        }
        let share = start.flatMap { start in ProcessorTime()?.otherShare(since: start) }
        return (timing.seconds, share)
    }

    private func profiles(
        _ programs: [SampledProgram], _ isCancelled: () -> Bool
    ) throws -> [PerformanceReport.OperationTimes] {
        var timing = OperationTiming(count: programs.count)
        try rounds(OperationTiming.rounds, isCancelled, PerformanceReport.Progress.profiled) { _ in
            try timing.addRound(programs)
        }
        return timing.results
    }

    private func rounds(
        _ total: Int, _ isCancelled: () -> Bool,
        _ progress: (_ count: Int, _ total: Int) -> PerformanceReport.Progress,
        _ round: (Int) throws -> Void
    ) throws {
        onProgress(progress(0, total))
        for index in 0..<total {
            try checkCancellation(isCancelled)
            try round(index)
            onProgress(progress(index + 1, total))
        }
    }

    private func report(
        _ models: [PerformanceReport.ModelPerformance], threads: Int, _ otherShare: Double?
    ) -> PerformanceReport {
        let other = models.dropFirst().first
        return PerformanceReport(
            machine: .init(
                cpu: Processor.name, processors: Machine.processorCount, threads: threads,
                blasCore: Machine.blasCore,
                tunedConvolutions: options.execution.kernels.names.count,
                otherWorkShare: otherShare),
            fps: options.fps, model: models[0], against: other,
            ratios: other.map { PerformanceReport.Figure.ratios(of: $0, to: models[0]) })
    }
}
