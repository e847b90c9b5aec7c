import ArgumentParser
import Retint
import RetintNetworks

struct BenchmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark",
        abstract: "Measure how fast a model runs or trains on this machine.",
        discussion: """
            The model is a checkpoint, a package, an ONNX file, or the name of an architecture, \
            which is then measured with random weights. A training step consists of forward pass, \
            L2 loss, backward pass and Adam. When started by mpirun or srun, all ranks take it \
            together, and measure the cost of their messages. From that, --predict-ranks predicts \
            the step time for other numbers of ranks; the model may then be a file written with \
            --json.

            For example:
              retint benchmark best.h5 --size 256
              retint benchmark mobile-unet --mode training --batch 16 --size 128
            """)

    @Argument(
        help: ArgumentHelp(
            "A checkpoint, a package, an ONNX file, or an architecture: "
                + colorizerNames.joined(separator: ", ") + "."), completion: .model,
        transform: { colorizerNames.contains($0) ? $0 : ShippedCheckpoint.path(of: $0) })
    var model: String

    @Option(help: "What to measure.")
    var mode = BenchmarkOptions.Mode.inference

    @Option(help: "Images in a batch, of all ranks together; default: one per rank.")
    var batch: Int?

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
        help: .rare("Use convolutions with fewer multiplications where they are faster (Winograd).")
    )
    var winograd = true

    @Flag(help: .rare("Train in less memory: recompute normalized activations."))
    var recompute = false

    @Flag(
        help: """
            Measure the fastest algorithm for each convolution, and save the result for \
            benchmark, colorize, evaluate, and train with tune=true.
            """)
    var tune = false

    @Flag(help: "Also show the time per type of operation.")
    var operations = false

    @Flag(help: "Also show the time of each step of the program, in order.")
    var steps = false

    @OptionGroup var execution: ExecutionOptions

    @OptionGroup(title: "Options of a prediction")
    var prediction: PredictionOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var helpOptions: HelpOptions

    func run() throws {
        let ranks = mode == .training ? try joinRanks() : .single
        let plot = ranks.rank == 0 ? prediction.plot : nil
        let claim = try plot.map { try OutputClaim($0, inputs: [model]) }
        defer { claim?.end() }
        if prediction.predictRanks != nil, model.hasSuffix(".json") {
            let saved = try SavedBenchmark(contentsOf: model)
            return try show(prediction.predictions(saved.model, saved.ranks))
        }
        try measure(on: ranks)
    }

    private func measure(on ranks: Communicator) throws {
        try check(size, "--size", Model.sideRange)
        try check(batch, "--batch", BenchmarkOptions.batchRange)
        let execution = try execution.value(threads: threads)
        try check(runs, "--runs", BenchmarkOptions.runRange)
        for threads in prediction.predictThreads?.numbers ?? [] {
            try check(threads, "--predict-threads", Execution.threadRange)
        }
        var options = options
        options.ranks = ranks
        try requireRanks(ranks)
        options.batch = batch ?? ranks.size
        if tune { options.tuner = tuner(execution.kernels) }
        let report = try loadedModel(execution).benchmark(options)
        if let tuner = options.tuner { try KernelFile.write(tuner.choices) }
        guard ranks.rank == 0 else { return }
        if json, prediction.predictRanks == nil { return try Console.printJSON(report) }
        if !json { for line in report.lines { Console.print(line) } }
        try show(report.ranks.flatMap { prediction.predictions(report.model, $0) })
    }

    private func requireRanks(_ ranks: Communicator) throws {
        guard prediction.predictRanks != nil, ranks.size < 2 else { return }
        throw CommandError(
            .usage,
            "--predict-ranks needs a measurement of several ranks: start retint benchmark "
                + "--mode training with mpirun -n 2, or pass the file that it wrote with --json")
    }

    private func show(_ predictions: RankPredictions?) throws {
        guard let predictions else { return }
        if json { try Console.printJSON(predictions) }
        if !json { for line in predictions.lines { Console.print(line) } }
        if let plot = prediction.plot { try predictions.writePlot(to: plot) }
    }
}

extension BenchmarkCommand {
    /// A file, or a new network; a file takes precedence over an architecture of the same name.
    private func loadedModel(_ execution: Execution) throws -> Model {
        let model = try readOrNewModel(execution)
        self.execution.note()
        return model
    }

    private func readOrNewModel(_ execution: Execution) throws -> Model {
        let isFile = (try? ModelFormat(ofModelAt: model)) != nil
        if isFile {
            try architecture.refuse(for: model)
            // Inference measures the network alone, as peers run it; training needs lightness and
            // colors.
            return try Model(
                contentsOf: model, form: mode == .inference ? .file : .colorizer,
                execution: execution)
        }
        guard colorizerNames.contains(model) else {
            let similar = Spelling.similar(to: model, among: colorizerNames)
            throw CommandError(
                similar.isEmpty ? .input : .usage,
                "\(model): neither a file nor an architecture; "
                    + (similar.isEmpty
                        ? "the architectures are \(colorizerNames.joined(separator: ", "))"
                        : "did you mean \(similar.joined(separator: ", "))?"))
        }
        let network = architecture.applied(to: .named(model))
        return Model(
            try CheckpointSource(network, seed: 0), name: model, execution: execution)
    }

    private var options: BenchmarkOptions {
        var options = BenchmarkOptions()
        (options.mode, options.size) = (mode, size)
        options.runs = runs
        (options.usesWinograd, options.recomputes) = (winograd, recompute)
        (options.profilesOperations, options.profilesSteps) = (operations, steps)
        options.predictedThreads = prediction.predictThreads?.numbers ?? []
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
