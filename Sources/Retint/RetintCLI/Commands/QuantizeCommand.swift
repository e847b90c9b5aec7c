import ArgumentParser
import Retint

struct QuantizeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quantize",
        abstract: "Make a package's weights smaller, and quantize its activations.",
        discussion: """
            Weights are decompressed when the model is loaded; its arithmetic stays the same. \
            Terms are those of coremltools. int8, uint8 and palettes need iOS16 or later; int4, \
            uint4, palette3, per-block, per-group, and sparse weights in fewer bits need iOS18. \
            A package for iOS15, the default, is raised to these; one for a later target has to be \
            exported again (retint export PACKAGE --target iOS18).

            With --activations, the inputs of operations are rounded to 8 bits (iOS17), as \
            coremltools' linear_quantize_activations does: together with --weights int8, devices \
            that multiply integers can use them. Their ranges come from the photos of --calibrate.

            With --calibrate, scales, palettes and rounding minimize the error of each operation's \
            outputs on the photos. With --photos, the outputs are compared with those of the \
            original package; without an output, all schemes are compared and nothing is written. \
            With --search, a scheme is chosen for each weight, or which weights get the one of \
            --weights; when started by mpirun or srun, all ranks split the weights. The result \
            says what is known of it: with few weights or photos, no smaller choice within the \
            bound exists, or none that differs in one weight. With --activations, --search instead \
            chooses which inputs of operations stay in float; --weights or --config set the \
            weights.

            Check the result: `retint verify OUT.mlpackage --against CHECKPOINT --photos FOLDER`.

            For example:
              retint quantize In.mlpackage -o Small.mlpackage --weights int8
              retint quantize In.mlpackage -o Small.mlpackage --weights int4 --calibrate photos
            """)

    @Argument(help: "The package.", completion: .package)
    var source: String

    @Option(
        name: [.customShort("o"), .customLong("output"), .customLong("package")],
        help: "What to write: \(ModelFormat.choice(.writingPackages)).",
        completion: .package)
    var package: String?

    @OptionGroup var scheme: SchemeOptions

    @OptionGroup var activation: ActivationOptions

    @Option(
        help: ArgumentHelp(
            """
            A YAML file with the keys of coremltools' OptimizationConfig: schemes by operation \
            type or name.
            """, valueName: "file.yaml"), completion: .yaml)
    var config: String?

    @Option(
        help: ArgumentHelp(
            """
            Calibrate on the photos of this folder or list (.txt), or on a file of the package's \
            inputs by name (.npz, .npy, .h5, .safetensors) or a folder of such files.
            """, valueName: "photos"),
        completion: .photos)
    var calibrate: String?

    @Option(
        help: ArgumentHelp(
            "Compare outputs on the photos of this folder or list (.txt).", valueName: "photos"),
        completion: .photos)
    var photos: String?

    @OptionGroup var photoRange: PhotoRangeOption

    @Option(help: "The largest number of photos to use from a folder, evenly spaced.")
    var limit = 32

    @Flag(
        help: """
            Before all else, move powers of two between weights until the values on the photos of \
            --calibrate fit float16, neither too large nor so small that they lose digits. In \
            float32 no bit of the outputs changes, which is checked.
            """)
    var repair = false

    @Flag(
        help: """
            Find the smallest package, or the one with the most quantized activations, whose \
            outputs stay within --max-delta-e or --min-snr on the photos of --calibrate.
            """)
    var search = false

    @Option(help: "The mean ΔE2000 that --search allows for colors; default: 1.")
    var maxDeltaE: Double?

    @Option(
        name: .customLong("min-snr"),
        help: """
            The SNR in dB that --search keeps; default: 30 for a model that is not a colorizer.
            """)
    var minSNR: Double?

    @Option(
        help: .rare(
            """
            An HDF5 file with inputs/<name> and outputs/<name>: --search runs on these inputs, and \
            bounds the difference from these outputs instead of the package's own.
            """, valueName: "ref.h5"), completion: .checkpoint)
    var reference: String?

    @Option(
        help: .rare(
            """
            A table with the columns operation (the name of its output or weight), weights (float \
            for a weight as it is, a scheme, or w8a8) and milliseconds, as measured on a device: \
            --search finds the fastest package instead of the smallest, and with --activations \
            chooses w8a8 among the schemes.
            """, valueName: "file.csv"), completion: .file(extensions: ["csv"]))
    var latency: String?

    @Option(
        help: .rare(
            """
            Also write what was done to each weight as YAML files of this folder: retint.yaml for \
            --config, files of coremltools' OptimizationConfig, named after the functions that \
            take them, and of coreai-opt, named after its classes.
            """, valueName: "folder"), completion: .directory)
    var saveConfig: String?

    @OptionGroup var memory: MemoryOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        if let package { _ = try writer(of: package) }
        guard package != nil || (!isRequested && photos != nil) else {
            throw ValidationError("name the output package with -o")
        }
        guard isRequested || package == nil else {
            throw ValidationError(
                """
                give --weights, --activations, --sparsity, --sparsity-ratio, --config, --repair or \
                --search
                """)
        }
        guard !repair || calibrate != nil else {
            throw ValidationError("--repair needs photos; name a folder with --calibrate")
        }
        guard activation.scheme == nil || calibrate != nil || reference != nil else {
            throw ValidationError("--activations needs photos; name a folder with --calibrate")
        }
        guard !search || calibrate != nil || reference != nil else {
            throw ValidationError("--search needs photos; name a folder with --calibrate")
        }
        guard reference == nil || (search && calibrate == nil) else {
            throw ValidationError("--reference is for --search, instead of --calibrate")
        }
        guard latency == nil || search else {
            throw ValidationError("--latency is for --search")
        }
        guard latency == nil || activation.smoothing == nil else {
            throw ValidationError("--smooth cannot be combined with --latency")
        }
        guard !searchesWeights || config == nil else {
            throw ValidationError(
                """
                --search chooses the schemes; omit --config, or give --activations without \
                --latency to search which of these stay floats
                """)
        }
        guard activation.scheme != nil || !activation.refinesScheme else {
            throw ValidationError("--activation-mode and --activation-range need --activations")
        }
        guard activation.scheme != nil || config != nil || activation.smoothing == nil else {
            throw ValidationError("--smooth needs --activations")
        }
        guard saveConfig == nil || package != nil else {
            throw ValidationError("--save-config needs the output package; name it with -o")
        }
        guard limit > 0 else { throw ValidationError("--limit \(limit): must be at least 1") }
        guard maxDeltaE ?? 1 > 0 else {
            throw ValidationError("--max-delta-e \(maxDeltaE ?? 1): must be above 0")
        }
        guard minSNR?.isFinite ?? true else {
            throw ValidationError("--min-snr: must be a number")
        }
        guard search || (maxDeltaE == nil && minSNR == nil) else {
            throw ValidationError("--max-delta-e and --min-snr need --search")
        }
        guard photoRange.range == nil || calibrate != nil || photos != nil else {
            throw ValidationError("--range needs --calibrate or --photos")
        }
        guard maxDeltaE == nil || minSNR == nil else {
            throw ValidationError("give either --max-delta-e or --min-snr")
        }
    }

    /// Whether a quantization is requested.
    private var isRequested: Bool {
        !scheme.isEmpty || activation.scheme != nil || config != nil || search || repair
    }

    /// Whether a scheme is chosen for each weight: by a table of times, also whether the inputs of
    /// its operations are quantized.
    private var searchesWeights: Bool { search && (activation.scheme == nil || latency != nil) }

    func run() throws {
        guard try ModelFormat(ofModelAt: source).isFor(.packages) else {
            throw CommandError(
                .usage,
                "\(source): is not a package; make one first: retint export \(source) "
                    + "-o \(source.filePath.stem ?? "model").mlpackage")
        }
        let files =
            [source] + [config, calibrate, self.photos, reference, latency].compactMap(\.self)
        let ranks = try joinRanks()
        if !searchesWeights { try ranks.requireOne(for: "all but --search of weights") }
        let claim = try package.flatMap { package in
            ranks.rank == 0 ? try OutputClaim(package, inputs: files) : nil
        }
        defer { claim?.end() }
        if let saveConfig { try QuantizationSettings.checkReplaceable(saveConfig) }
        var original = try ModelFormat.package(at: source)
        try refuseUnnamedFunction(of: original)
        let recorded = try reference.map { try recordedRuns($0, for: original) }
        let calibration = try recorded?.inputs ?? inputs(from: calibrate, for: original)
        let repaired = try repair ? repaired(original, calibration) : nil
        original = repaired?.package ?? original
        let photos = try inputs(from: photos, for: original)
        guard let package else { return try compare(original, photos, calibration) }
        let standard = scheme.isEmpty ? nil : try scheme.scheme()
        if searchesWeights {
            let progress = ProgressBar("search", total: 100, unit: "%")
            return try finish(original, photos, to: package, ranks, repaired?.report) {
                defer { progress.finish() }
                return try original.searchQuantization(
                    on: calibration, within: try searchBound(for: original),
                    schemes: standard.map { [$0] }, threshold: scheme.threshold,
                    targets: recorded?.outputs, latencies: try latency.map(LatencyTable.init),
                    activations: activation.scheme, execution: memory.execution, ranks: ranks
                ) { progress.update(Int(100 * $0)) }
            }
        }
        var plan =
            try config.map {
                try QuantizationPlan(
                    contentsOf: $0, standard: standard, activations: activation.scheme)
            } ?? QuantizationPlan(standard, activations: activation.scheme)
        plan.smoothing = activation.smoothing
        if search {
            return try finish(original, photos, to: package, ranks, repaired?.report) {
                try original.searchActivations(
                    plan, on: calibration, within: try searchBound(for: original),
                    targets: recorded?.outputs, execution: memory.execution)
            }
        }
        let (result, report) = try naming(source) {
            try original.quantized(
                plan, calibration: calibration, execution: memory.execution)
        }
        try write(result, to: package)
        try save(plan, original, report)
        let change = try change(original, to: result, photos)
        try show(QuantizationOutcome(report, change, repair: repaired?.report), package)
    }

    /// The inputs and outputs of a reference file as the package takes and returns them.
    private func recordedRuns(
        _ file: String, for original: MLPackage
    ) throws -> (inputs: [[NamedTensor]], outputs: [[NamedTensor]]) {
        try Reference(contentsOf: file).runs(of: Model(original, name: source))
    }

    private func repaired(
        _ original: MLPackage, _ inputs: [[NamedTensor]]
    ) throws -> (package: MLPackage, report: RangeRepairReport) {
        try naming(source) {
            try original.repairingRange(on: inputs, execution: memory.execution)
        }
    }

    /// A package with several functions is refused, because the result would have only one.
    private func refuseUnnamedFunction(of original: MLPackage) throws {
        guard original.functionNames.count > 1, FunctionPath(source).function == nil else { return }
        throw CommandError(
            .usage,
            """
            \(source): has the functions \(original.functionNames.joined(separator: ", ")). Name \
            one, as in \(source)#\(original.functionNames[0]), quantize each, and combine the \
            results with retint combine
            """)
    }

    private func save(
        _ plan: QuantizationPlan, _ original: MLPackage, _ report: QuantizationReport
    ) throws {
        guard let saveConfig else { return }
        let settings = QuantizationSettings(plan, of: original, report)
        try settings.write(to: saveConfig)
        let leftOut = settings.leftOutForCoreAIOpt
        guard !leftOut.isEmpty else { return }
        Console.note(
            "\(saveConfig): coreai-opt's files leave out \(leftOut.listed()): it compresses "
                + "parameters of modules by their names, and not in every way")
    }

    private func write(_ result: MLPackage, to path: String) throws {
        let (format, write) = try writer(of: path)
        let written = try naming(source) {
            try result.write(as: format, write, to: path, named: source)
        }
        for note in written.notes { Console.note(note) }
    }

    /// How a package is written to an output of this name.
    private func writer(
        of output: String
    ) throws -> (format: ModelFormat, write: ModelFormat.PackageWriter) {
        let packages = ModelFormat.formats(for: .writingPackages)
        guard let format = packages.first(where: { $0.isExtension(of: output) }),
            case .package(let write)? = format.writing
        else {
            let known = packages.map { ".\($0.extensions[0]) (\($0.title))" }
            throw ValidationError(
                "\(output): the extension selects the format; use "
                    + known.joined(separator: " or "))
        }
        return (format, write)
    }

    /// Writes what a search finds.
    private func finish(
        _ original: MLPackage, _ photos: [[NamedTensor]], to package: String,
        _ ranks: Communicator, _ repair: RangeRepairReport?,
        _ search: () throws -> (package: MLPackage, report: QuantizationSearchReport)
    ) throws {
        let (result, report) = try naming(source) { try search() }
        guard ranks.rank == 0 else { return }
        try write(result, to: package)
        try save(report.plan, original, report.quantization)
        let change = try change(original, to: result, photos)
        let heldOut = try photos.isEmpty ? heldOut(original, to: result) : nil
        try show(
            QuantizationOutcome(
                report.quantization, change ?? report.change, report, heldOut, repair: repair),
            package)
        try warn(of: heldOut, searchBound(for: original))
    }

    /// The change on inputs of `calibrate` that the search has not seen; nil if it has seen all.
    private func heldOut(
        _ original: MLPackage, to result: MLPackage
    ) throws -> QuantizationOutcome.HeldOut? {
        guard let calibrate else { return nil }
        do {
            let others = try calibrationInputs(
                calibrate, for: original, named: source, range: photoRange.range, limit: limit,
                others: true)
            return try self.change(original, to: result, others).map {
                QuantizationOutcome.HeldOut(count: others.count, change: $0)
            }
        } catch let error as any RetintError where error.fault == .input {
            // The package is written, and what was searched on is intact.
            Console.warn("no other inputs were measured: \(error)")
            return nil
        }
    }

    private func warn(of heldOut: QuantizationOutcome.HeldOut?, _ bound: QuantizationBound) {
        guard let heldOut, !bound.holds(for: heldOut.change) else { return }
        Console.warn(
            "on \(Format.counted(heldOut.count, "other input")), \(bound) does not hold: search on "
                + "more (--limit), or with a margin (--max-delta-e, --min-snr)")
    }

    private func searchBound(for original: MLPackage) throws -> QuantizationBound {
        if let minSNR { return .minSNR(minSNR) }
        let isColorizer = try Model(original, name: source).interface.isColorizer
        return isColorizer || maxDeltaE != nil ? .meanDeltaE(maxDeltaE ?? 1) : .minSNR(30)
    }

    /// The change of the outputs on the photos, if there are any.
    private func change(
        _ original: MLPackage, to result: MLPackage, _ photos: [[NamedTensor]]
    ) throws -> QuantizationReport.OutputChange? {
        guard !photos.isEmpty else { return nil }
        return try original.outputChange(to: result, on: photos, execution: memory.execution)
    }

    private func compare(
        _ package: MLPackage, _ photos: [[NamedTensor]], _ calibration: [[NamedTensor]]
    ) throws {
        let progress = ProgressBar("quantize", total: 100, unit: "%")
        let results = try naming(source) {
            try package.compareSchemes(
                scheme.usual, on: photos, calibration: calibration, execution: memory.execution
            ) {
                progress.update(Int(100 * $0))
            }
        }
        progress.finish()
        if json { return try Console.printJSON(results) }
        let areColors = try Model(package, name: source).interface.isColorizer
        let columns = areColors ? ["PSNR dB", "ΔE2000"] : ["SNR dB"]
        var table = TextTable(
            header: ["weights", "compressed", "bytes of all"] + columns,
            rightAligned: [1, 2, 3, 4])
        for result in results {
            let cells = result.change.map { change in
                change.deltaE2000.map {
                    [Format.fixed(change.psnrDb ?? .infinity, 2), Format.fixed($0, 4)]
                } ?? [Format.fixed(change.snrDb ?? .infinity, 2)]
            }
            table.append(
                [
                    result.scheme,
                    result.compressedCount.map { "\($0) of \(result.weightCount ?? $0)" } ?? "-",
                    result.bytes.map { Format.bytes($0) } ?? "-",
                ]
                    + (cells ?? columns.map { _ in "-" }))
        }
        for line in table.lines { Console.print(line) }
        for result in results {
            if let failure = result.failure { Console.print("\(result.scheme): \(failure)") }
        }
    }

    private func show(_ outcome: QuantizationOutcome, _ package: String) throws {
        if json { return try Console.printJSON(outcome) }
        for line in outcome.repair?.lines ?? [] { Console.print(line) }
        for line in outcome.search?.sensitivityLines ?? [] { Console.print(line) }
        for line in outcome.report.lines { Console.print(line) }
        if let raised = outcome.report.raisedTarget {
            Console.print(
                "raised the deployment target from \(raised.from) to \(raised.to): "
                    + "\(raised.reason) need it")
        }
        if let known = outcome.known { Console.print(known) }
        if let latency = outcome.search?.latency {
            Console.print(
                "by the table: \(Format.fixed(latency.millisecondsBefore, 3)) ms → "
                    + "\(Format.fixed(latency.millisecondsAfter, 3)) ms")
        }
        if let change = outcome.change {
            Console.print(change.text)
        }
        if let heldOut = outcome.heldOut {
            Console.print(
                "on \(Format.counted(heldOut.count, "input")) that the search did not see: "
                    + heldOut.change.text)
        }
        guard !outcome.report.compressed.isEmpty else { return Console.print(package) }
        Console.print(
            "\(package): weights \(Format.bytes(outcome.report.bytesBefore)) → "
                + "\(Format.bytes(outcome.report.bytesAfter)), "
                + "\(outcome.report.compressed.count) of "
                + "\(outcome.report.weightCount) compressed")
    }

    /// The photos of a folder or list as the package takes them.
    private func inputs(
        from folder: String?, for package: MLPackage
    ) throws -> [[NamedTensor]] {
        guard let folder else { return [] }
        return try calibrationInputs(
            folder, for: package, named: source, range: photoRange.range, limit: limit)
    }
}
