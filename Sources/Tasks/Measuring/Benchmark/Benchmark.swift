import RetintEngine
import RetintRuntime

extension Model {
    /// Measures how fast a model runs or trains on this machine.
    ///
    /// Two untimed runs first lay out the weights and warm the caches. For comparison, the report
    /// also has the speed of matrix products and copies on this machine.
    ///
    /// With several ranks, all must call it with the same model and options. The times are then
    /// those of the slowest rank.
    ///
    /// - Throws: ``BenchmarkError`` if an option is out of range or a package is to be trained;
    ///   `ModelError` if the model does not run at the size.
    public consuming func benchmark(
        _ options: BenchmarkOptions = .init()
    ) throws -> BenchmarkReport {
        try options.check(self.execution)
        let (name, execution) = (self.name, self.execution)
        let predictions = try self.threadPredictions(options)
        let isShared = options.mode == .training && options.ranks.size > 1
        let oneImage =
            isShared ? try BenchmarkReport.RankReport.oneImageSeconds(self, options) : nil
        // Programs have their own weights: the model's are released if the caller does not need
        // them.
        let subject = try BenchmarkSubject(consume self, options)
        let shared = try oneImage.map {
            try BenchmarkReport.RankReport.measure(subject, oneImageSeconds: $0, options)
        }
        let seconds = try shared?.seconds ?? subject.measure(runs: options.runs)
        let median = seconds.median
        let isProfiled = options.profilesOperations || options.profilesSteps
        let profile = isProfiled ? subject.program.profile() : []
        // Read before the measurement of matrix products allocates its own memory.
        let peak = ProcessMemory.peakBytes
        let multiplyAdds = subject.program.multiplyAdds
        let gflops = 2e-9 * Double(multiplyAdds) / median
        let isOnCPU = execution.device == .cpu
        let sgemm =
            try isOnCPU ? 1e-9 * Machine.measureMatrixProduct(threads: execution.threads) : nil
        let copy = try isOnCPU ? 1e-9 * Machine.measureCopy(threads: execution.threads) : nil
        return BenchmarkReport(
            model: name, mode: options.mode.rawValue, batch: subject.batch,
            height: subject.size?.height, width: subject.size?.width,
            inputs: subject.inputs.mapValues(\.shape.dimensions),
            device: execution.device.rawValue,
            arithmetic: execution.arithmetic.summary(
                on: execution.device, trains: options.mode == .training),
            threads: subject.program.threads,
            runs: seconds.count, medianSeconds: median, fastestSeconds: seconds.min() ?? .nan,
            imagesPerSecond: Double(subject.batch) / median, multiplyAdds: multiplyAdds,
            weightBytes: subject.program.variableBytes, gflops: gflops, sgemmGflops: sgemm,
            sgemmShare: sgemm.map { gflops / $0 }, copyGigabytesPerSecond: copy, peakBytes: peak,
            arenaBytes: subject.program.arenaBytes, blasCore: isOnCPU ? Machine.blasCore : nil,
            sgemmKernels: isOnCPU ? Machine.matrixKernels : nil,
            operations: options.profilesOperations
                ? BenchmarkReport.Operation.summary(of: profile) : nil,
            steps: options.profilesSteps ? BenchmarkReport.Step.list(profile) : nil,
            threadPredictions: predictions, ranks: shared?.report)
    }

    /// - Returns: nil if none are requested, or the model does not run on the CPU.
    private func threadPredictions(_ options: BenchmarkOptions) throws -> [ThreadPrediction]? {
        guard !options.predictedThreads.isEmpty else { return nil }
        return try options.predictedThreads.compactMap { threads in
            var model = self
            model.execution.threads = threads
            let subject = try BenchmarkSubject(model, options)
            _ = try subject.program.run(subject.inputs)
            return subject.program.threadPrediction()
        }
    }
}
