import ArgumentParser
import Retint

struct BenchmarkCommand: ParsableCommand {
    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case inference, training
    }

    static let configuration = CommandConfiguration(
        commandName: "benchmark",
        abstract: "Measure how fast a model runs here.",
        discussion: """
            The model is a checkpoint, a package, or the name of an architecture, which then has \
            random weights. Training is a whole step: forward, L2 loss, backward, Adam.
            """)

    @Argument(
        help:
            "A checkpoint, a package, or an architecture: \(colorizerNames.joined(separator: ", "))."
    )
    var model: String

    @Option(help: "inference or training.")
    var mode = Mode.inference

    @Option(help: "Pictures in a batch.")
    var batch = 1

    @Option(help: "The side of the pictures in pixels.")
    var size: Int?

    @OptionGroup(title: "Options of a named architecture")
    var architecture: ArchitectureFlags

    @Option(help: "Threads to run on; all processors if not given.")
    var threads: Int?

    @Option(
        help: "How often to run; as often as fits in two seconds, at least 5 times, if not given.")
    var runs: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Convolve with fewer multiplications where that is faster (Winograd).")
    var winograd = true

    @Flag(help: "Train in less memory: compute normalized activations twice.")
    var recompute = false

    @Flag(
        help: """
            Measure which algorithm is the fastest for each convolution, and remember that for \
            benchmark, colorize and evaluate.
            """)
    var tune = false

    @Flag(help: "Also measure each kind of operation.")
    var operations = false

    @Flag(help: "Also list each step of the program, in its order.")
    var steps = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        for (value, option) in [
            (size, "--size"), (batch, "--batch"), (threads, "--threads"), (runs, "--runs"),
        ] {
            try checkPositive(value, option)
        }
        try checkModel()
        if let warning = Processor.blasWarning { Console.warn(warning) }
        let tuner = tune ? Self.tuner : nil
        let subject = try subject(tuner)
        if let tuner { try KernelFile.write(tuner.choices) }
        let seconds = try measure(subject).sorted()
        let report = try report(subject, seconds)
        if json { return try Console.printJSON(report) }
        for line in report.lines { Console.print(line) }
    }
}

extension BenchmarkCommand {
    private static var tuner: KernelTuner {
        KernelTuner(KernelFile.read()) { task, seconds in
            let times = seconds.map { "\($0.algorithm) \(Format.duration($0.seconds))" }
            Console.note("\(task): \(times.joined(separator: ", "))")
        }
    }

    private func subject(_ tuner: KernelTuner?) throws -> BenchmarkSubject {
        var options = CompileOptions(
            threads: threads, winograd: winograd ? .whereFaster : .never)
        (options.choices, options.tuner) = (KernelFile.read(), tuner)
        options.recomputes = recompute
        switch mode {
        case .inference:
            let loaded =
                try isArchitecture ? Model(fresh(), name: model) : Model(contentsOf: model)
            return try .inference(loaded, batch: batch, size: size, options: options)
        case .training:
            if try !isArchitecture && isDirectory(model) {
                throw CommandError(
                    .wrongUsage, "\(model): a package cannot be trained; give a checkpoint")
            }
            let checkpoint = try isArchitecture ? fresh() : Checkpoint(contentsOf: model)
            return try .training(checkpoint, batch: batch, size: size ?? 256, options: options)
        }
    }

    private func checkModel() throws {
        let isFile = (try? isDirectory(model)) != nil
        if isFile || isArchitecture { return }
        throw CommandError(
            .badInput,
            "\(model): there is neither such a file nor such an architecture; known "
                + "architectures are \(colorizerNames.joined(separator: ", "))")
    }

    /// A file goes before an architecture of its name.
    private var isArchitecture: Bool {
        colorizerNames.contains(model) && (try? isDirectory(model)) == nil
    }

    private func fresh() throws -> Checkpoint {
        let options = architecture.applied(to: ColorizerOptions())
        return try Checkpoint(architecture: model, options: options.texts, seed: 0)
    }

    private func measure(_ subject: BenchmarkSubject) throws -> [Double] {
        let clock = ContinuousClock()
        // The first run also lays out the weights; the second finds warm caches.
        for _ in 0..<2 { _ = try subject.program.run(subject.inputs) }
        var seconds: [Double] = []
        let start = clock.now
        while seconds.count < runs ?? 5 || runs == nil && clock.now - start < .seconds(2) {
            let time = try clock.measure { _ = try subject.program.run(subject.inputs) }
            seconds.append(time / .seconds(1))
        }
        return seconds
    }

    private func report(
        _ subject: BenchmarkSubject, _ seconds: [Double]
    ) throws -> BenchmarkReport {
        let median = (seconds[(seconds.count - 1) / 2] + seconds[seconds.count / 2]) / 2
        let profile = operations || steps ? subject.program.profile() : nil
        // Before the matrices of the comparison take memory of their own.
        let peak = Processor.peakBytes
        let gflops = 2e-9 * Double(subject.program.multiplyAdds) / median
        let sgemm = try 1e-9 * Machine.measureMatrixProduct(threads: threads)
        let copy = try 1e-9 * Machine.measureCopy(threads: threads)
        return BenchmarkReport(
            model: model, mode: mode.rawValue, batch: batch, height: subject.height,
            width: subject.width, threads: subject.program.threads, runs: seconds.count,
            medianSeconds: median, fastestSeconds: seconds[0],
            imagesPerSecond: Double(batch) / median, gflops: gflops, sgemmGflops: sgemm,
            sgemmShare: gflops / sgemm, copyGigabytesPerSecond: copy, peakBytes: peak,
            arenaBytes: subject.program.arenaBytes, blasCore: Machine.blasCore,
            operations: operations ? profile.map(BenchmarkReport.Operation.summary) : nil,
            steps: steps ? profile?.map(BenchmarkReport.Step.init) : nil)
    }
}
