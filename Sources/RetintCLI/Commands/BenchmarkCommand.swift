import ArgumentParser
import Retint

struct BenchmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark",
        abstract: "Measure how fast a model runs or trains on this machine.",
        discussion: """
            The model is a checkpoint, a package, or the name of an architecture, which is then \
            measured with random weights. A training step is forward pass, L2 loss, backward pass \
            and Adam.
            """)

    @Argument(
        help: ArgumentHelp(
            "A checkpoint, a package, or an architecture: "
                + colorizerNames.joined(separator: ", ") + "."))
    var model: String

    @Option(help: "What to measure.")
    var mode = BenchmarkOptions.Mode.inference

    @Option(help: "Images in a batch.")
    var batch = 1

    @Option(help: "The side of the images in pixels.")
    var size: Int?

    @OptionGroup(title: "Options of a named architecture")
    var architecture: ArchitectureFlags

    @Option(help: "Number of threads; default: all processors.")
    var threads: Int?

    @Option(help: "Number of timed runs; default: as many as fit in two seconds, at least 5.")
    var runs: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Use convolutions with fewer multiplications where they are faster (Winograd).")
    var winograd = true

    @Flag(help: "Train in less memory: recompute normalized activations.")
    var recompute = false

    @Flag(
        help: """
            Measure the fastest algorithm for each convolution, and keep the result for \
            benchmark, colorize and evaluate.
            """)
    var tune = false

    @Flag(help: "Also show the time by kind of operation.")
    var operations = false

    @Flag(help: "Also show the time of each step of the program, in order.")
    var steps = false

    @OptionGroup var memory: MemoryOptions

    @OptionGroup var arithmetic: ComputeOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        try check(size, "--size", Model.sideRange)
        try check(batch, "--batch", BenchmarkOptions.batchRange)
        try check(threads, "--threads", CompileOptions.threadRange)
        try check(runs, "--runs", BenchmarkOptions.runRange)
        var options = options
        if tune { options.tuner = tuner(options.choices) }
        let report = try benchmark(arithmetic.applied(to: try loadedModel()), options)
        if let tuner = options.tuner { try KernelFile.write(tuner.choices) }
        if json { return try Console.printJSON(report) }
        for line in report.lines { Console.print(line) }
    }
}

extension BenchmarkCommand {
    /// A file, or a new network; a file takes precedence over an architecture of the same name.
    private func loadedModel() throws -> Model {
        let isFile = (try? isDirectory(model)) != nil
        if isFile {
            try architecture.refuse(for: model)
            return try memory.model(contentsOf: model)
        }
        guard colorizerNames.contains(model) else {
            throw CommandError(
                .badInput,
                "\(model): neither a file nor an architecture; the architectures are "
                    + colorizerNames.joined(separator: ", "))
        }
        let options = architecture.applied(to: ColorizerOptions())
        return Model(
            try CheckpointSource(architecture: model, options: options.texts, seed: 0),
            name: model)
    }

    private var options: BenchmarkOptions {
        var options = BenchmarkOptions()
        (options.mode, options.batch, options.size) = (mode, batch, size)
        (options.threads, options.runs) = (threads, runs)
        (options.usesWinograd, options.recomputes) = (winograd, recompute)
        options.choices = KernelFile.read()
        (options.profilesOperations, options.profilesSteps) = (operations, steps)
        return options
    }

    private func tuner(_ known: KernelChoices) -> KernelTuner {
        KernelTuner(known) { task, seconds in
            let times = seconds.map { "\($0.algorithm) \(Format.duration($0.seconds))" }
            Console.note("\(task): \(times.joined(separator: ", "))")
        }
    }
}

extension BenchmarkOptions.Mode: ExpressibleByArgument {}
