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
            The target of a package is raised if necessary.

            With --activations, the inputs of operations are rounded to 8 bits (iOS17), as \
            coremltools' linear_quantize_activations does: together with --weights int8, devices \
            that multiply integers can use them. Their ranges come from the photos of --calibrate.

            With --calibrate, scales, palettes and rounding minimize the error of each operation's \
            outputs on the photos. With --photos, the outputs are compared with those of the \
            original package; without an output, all schemes are compared and nothing is written. \
            With --search, a scheme is chosen for each weight; when started by mpirun or srun, all \
            ranks split the weights. With --activations, --search chooses which inputs of \
            operations stay floats instead, and the weights are as --weights or --config say.

            Check the result with `retint verify OUT.mlpackage --against CHECKPOINT`.
            """)

    @Argument(help: "The package.", completion: .package)
    var source: String

    @Option(
        name: [.customShort("o"), .customLong("package")],
        help: "What to write: \(ModelFormat.choice(.packages)).",
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
            "Calibrate on the photos in this folder.", valueName: "dir"), completion: .directory)
    var calibrate: String?

    @Option(
        help: ArgumentHelp(
            "Compare outputs on the photos in this folder.", valueName: "dir"),
        completion: .directory)
    var photos: String?

    @OptionGroup var photoRange: PhotoRangeOption

    @Option(help: "The largest number of photos to use from a folder, evenly spaced.")
    var limit = 32

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

    @OptionGroup var memory: MemoryOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let package { _ = try writer(of: package) }
        guard package != nil || (!isRequested && photos != nil) else {
            throw ValidationError("give the output package with -o")
        }
        guard isRequested || package == nil else {
            throw ValidationError(
                """
                give --weights, --activations, --sparsity, --sparsity-ratio, --config or --search
                """)
        }
        guard activation.scheme == nil || calibrate != nil else {
            throw ValidationError("--activations needs photos; name a folder with --calibrate")
        }
        guard !search || calibrate != nil else {
            throw ValidationError("--search needs photos; name a folder with --calibrate")
        }
        guard !search || activation.scheme != nil || (scheme.isEmpty && config == nil) else {
            throw ValidationError(
                "--search chooses the schemes; omit --weights, --sparsity and --config")
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
        !scheme.isEmpty || activation.scheme != nil || config != nil || search
    }

    func run() throws {
        guard try ModelFormat(ofModelAt: source).isFor(.packages) else {
            throw CommandError(
                .usage,
                "\(source): is not a package; export the checkpoint first, with retint export")
        }
        let files = [source] + [config, calibrate, self.photos].compactMap(\.self)
        let ranks = try joinRanks()
        let searchesWeights = search && activation.scheme == nil
        if !searchesWeights { try ranks.requireOne(for: "all but --search of weights") }
        let claim = try package.flatMap { package in
            ranks.rank == 0 ? try OutputClaim(package, inputs: files) : nil
        }
        defer { claim?.end() }
        let original = try ModelFormat.package(at: source)
        try refuseUnnamedFunction(of: original)
        let calibration = try inputs(below: calibrate, for: original)
        let photos = try inputs(below: photos, for: original)
        guard let package else { return try compare(original, photos, calibration) }
        if searchesWeights {
            return try finish(original, photos, to: package, ranks) {
                try original.searchQuantization(
                    on: calibration, within: try searchBound(for: original),
                    execution: memory.execution, ranks: ranks)
            }
        }
        let standard = scheme.isEmpty ? nil : try scheme.scheme()
        var plan =
            try config.map {
                try QuantizationPlan(
                    contentsOf: $0, standard: standard, activations: activation.scheme)
            } ?? QuantizationPlan(standard, activations: activation.scheme)
        plan.smoothing = activation.smoothing
        if search {
            return try finish(original, photos, to: package, ranks) {
                try original.searchActivations(
                    plan, on: calibration, within: try searchBound(for: original),
                    execution: memory.execution)
            }
        }
        let (result, report) = try naming(source) {
            try original.quantized(
                plan, calibration: calibration, execution: memory.execution)
        }
        try write(result, to: package)
        let change = try change(original, to: result, photos)
        try show(QuantizationOutcome(report, change), package)
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

    private func write(_ result: MLPackage, to path: String) throws {
        _ = try naming(source) { try writer(of: path)(result, path, ModelWritingOptions()) }
    }

    /// How a package is written to an output of this name.
    private func writer(of output: String) throws -> ModelFormat.PackageWriter {
        let packages = ModelFormat.formats(for: .packages)
        guard let format = packages.first(where: { $0.isExtension(of: output) }),
            case .package(let write)? = format.writing
        else {
            let known = packages.map { ".\($0.extensions[0]) (\($0.title))" }
            throw ValidationError(
                "\(output): a model is known by its name; let it end in "
                    + known.joined(separator: " or "))
        }
        return write
    }

    /// Writes what a search finds.
    private func finish(
        _ original: MLPackage, _ photos: [[NamedTensor]], to package: String,
        _ ranks: Communicator,
        _ search: () throws -> (package: MLPackage, report: QuantizationSearchReport)
    ) throws {
        let (result, report) = try naming(source) { try search() }
        guard ranks.rank == 0 else { return }
        try write(result, to: package)
        let change = try change(original, to: result, photos)
        try show(
            QuantizationOutcome(report.quantization, change ?? report.change, report.proof), package)
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
                on: photos, calibration: calibration, execution: memory.execution
            ) {
                progress.update(Int(100 * $0))
            }
        }
        progress.finish()
        if json { return try Console.printJSON(results) }
        let areColors = try Model(package, name: source).interface.isColorizer
        let columns = areColors ? ["PSNR dB", "ΔE2000"] : ["SNR dB"]
        var table = TextTable(header: ["weights", "bytes"] + columns, rightAligned: [1, 2, 3])
        for result in results {
            let cells = result.change.map { change in
                change.deltaE2000.map {
                    [Format.fixed(change.psnrDb ?? .infinity, 2), Format.fixed($0, 4)]
                } ?? [Format.fixed(change.snrDb ?? .infinity, 2)]
            }
            table.append(
                [result.scheme, result.bytes.map { Format.bytes($0) } ?? "-"]
                    + (cells ?? columns.map { _ in "-" }))
        }
        for line in table.lines { Console.print(line) }
        for result in results {
            if let failure = result.failure { Console.print("\(result.scheme): \(failure)") }
        }
    }

    private func show(_ outcome: QuantizationOutcome, _ package: String) throws {
        if json { return try Console.printJSON(outcome) }
        for line in outcome.report.lines { Console.print(line) }
        if let raised = outcome.report.raisedTarget {
            Console.print(
                "raised the deployment target from \(raised.from) to \(raised.to): "
                    + "\(raised.reason) need it")
        }
        if let kept = outcome.report.activations.keptAsFloats(outcome.proof) { Console.print(kept) }
        if let change = outcome.change {
            Console.print(change.text)
        }
        guard !outcome.report.compressed.isEmpty else { return Console.print(package) }
        Console.print(
            "\(package): weights \(Format.bytes(outcome.report.bytesBefore)) → "
                + "\(Format.bytes(outcome.report.bytesAfter))")
    }

    /// The photos of a directory as the package takes them.
    private func inputs(
        below directory: String?, for package: MLPackage
    ) throws -> [[NamedTensor]] {
        guard let directory else { return [] }
        let all = try photoFiles(below: directory)
        let model = Model(package, name: source)
        let photos = try PhotoInputs(
            for: model.interface, shapes: model.inputShapes(), model: source,
            range: photoRange.range)
        let count = min(limit, all.count)
        let whole = count - count % photos.batch
        guard whole > 0 else {
            throw CommandError(
                .usage,
                "\(source): takes \(photos.batch) photos at a time, but there are \(count)")
        }
        let chosen = (0..<whole).map { all[$0 * all.count / whole] }
        return try photos.batches(chosen).map(photos.tensors)
    }
}

/// The scheme of all weights without their own scheme.
struct SchemeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The type of weights: \(QuantizationScheme.Weights.allNames.joined(separator: ", ")).",
            valueName: "kind"))
    var weights: QuantizationScheme.Weights?

    @Option(
        help: """
            The values that share a scale (per-tensor, per-channel, per-block) or a palette \
            (per-tensor, per-group); default: a scale per channel, a palette per tensor.
            """)
    var granularity: QuantizationScheme.Granularity?

    @Option(
        help:
            "Symmetric scales, or linear ones with a zero point."
    )
    var mode = QuantizationScheme.Mode.symmetric

    @Option(help: "The palette: least squared error (kmeans) or equal steps (uniform).")
    var paletteMode = QuantizationScheme.PaletteMode.kmeans

    @Option(help: "The number of input channels per block, or output channels per group.")
    var blockSize = 32

    @Option(
        help: "The share of each weight's values that are pruned to zero, smallest first.")
    var sparsity = 0.0

    @Option(help: "With --sparsity: the number of consecutive output channels pruned together.")
    var sparsityBlock: Int?

    @Option(
        help: ArgumentHelp(
            "n:m sparsity: prune n of every m input channels, for example 2:4.",
            valueName: "n:m"))
    var sparsityRatio: SparsityRatio?

    @Option(help: "The channels along which blocks and ratios run, if not the default.")
    var sparsityAxis: QuantizationScheme.ChannelAxis?

    @Option(
        help: """
            Weights with at most this many values are not changed; default: 2048, but 0 where \
            activations are quantized.
            """)
    var threshold: Int?

    var isEmpty: Bool { weights == nil && sparsity == 0 && sparsityRatio == nil }

    func scheme() throws -> QuantizationScheme {
        var scheme = QuantizationScheme(weights ?? .unchanged, granularity: granularity)
        (scheme.mode, scheme.paletteMode) = (mode, paletteMode)
        (scheme.blockSize, scheme.threshold, scheme.sparsity) = (blockSize, threshold, sparsity)
        if let sparsityBlock { scheme.pruning = .blocks(of: sparsityBlock) }
        if let sparsityRatio { scheme.pruning = sparsityRatio.pruning }
        scheme.chosenPruningAxis = sparsityAxis
        return scheme
    }
}

/// How the inputs of all operations without their own scheme are quantized.
struct ActivationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The type of the inputs of operations: \
            \(ActivationScheme.Integers.allCases.map(\.rawValue).joined(separator: ", ")).
            """, valueName: "kind"))
    var activations: ActivationScheme.Integers?

    @Option(help: "With --activations: symmetric ranges, or linear ones with a zero point.")
    var activationMode = QuantizationScheme.Mode.symmetric

    @Option(
        help: ArgumentHelp(
            """
            With --activations: the ranges that calibration finds: \
            \(ActivationScheme.Range.allNames.joined(separator: ", ")), where percentile may be \
            followed by a number, as in percentile99.9.
            """, valueName: "range"))
    var activationRange = ActivationScheme.Range.mse

    @Option(
        name: .customLong("smooth"),
        help: ArgumentHelp(
            """
            With --activations: even out the ranges of a value's channels by powers of two that \
            move into the weights; from 0 to 1, as SmoothQuant's alpha.
            """, valueName: "alpha"))
    var smoothing: Double?

    var scheme: ActivationScheme? {
        activations.map { ActivationScheme($0, mode: activationMode, range: activationRange) }
    }
}

/// An argument of the form `n:m`.
struct SparsityRatio: ExpressibleByArgument {
    let pruning: QuantizationScheme.Pruning

    init?(argument: String) {
        let parts = argument.split(separator: ":").map { Int($0) }
        guard parts.count == 2, let zeros = parts[0], let count = parts[1] else { return nil }
        pruning = .ratio(zeros: zeros, of: count)
    }
}

extension QuantizationScheme.Weights: ExpressibleByArgument {}
extension QuantizationScheme.Granularity: ExpressibleByArgument {}
extension QuantizationScheme.Mode: ExpressibleByArgument {}
extension QuantizationScheme.ChannelAxis: ExpressibleByArgument {}
extension QuantizationScheme.PaletteMode: ExpressibleByArgument {}
extension ActivationScheme.Integers: ExpressibleByArgument {}
extension ActivationScheme.Range: ExpressibleByArgument {}

/// The JSON of `quantize`.
private struct QuantizationOutcome: Encodable {
    let report: QuantizationReport
    let change: QuantizationReport.OutputChange?
    let proof: QuantizationSearchReport.Proof?

    init(
        _ report: QuantizationReport, _ change: QuantizationReport.OutputChange?,
        _ proof: QuantizationSearchReport.Proof? = nil
    ) {
        (self.report, self.change, self.proof) = (report, change, proof)
    }

    private enum CodingKeys: String, CodingKey {
        case compressed, activations, proof, skipped, raisedTarget, bytesBefore, bytesAfter, psnrDb, snrDb
        case deltaE2000 = "delta_e2000"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(report.compressed, forKey: .compressed)
        try container.encode(report.activations, forKey: .activations)
        try container.encode(report.skipped, forKey: .skipped)
        try container.encodeIfPresent(report.raisedTarget?.to, forKey: .raisedTarget)
        try container.encode(report.bytesBefore, forKey: .bytesBefore)
        try container.encode(report.bytesAfter, forKey: .bytesAfter)
        try container.encodeIfPresent(proof, forKey: .proof)
        try container.encodeIfPresent(change?.psnrDb, forKey: .psnrDb)
        try container.encodeIfPresent(change?.snrDb, forKey: .snrDb)
        try container.encodeIfPresent(change?.deltaE2000, forKey: .deltaE2000)
    }
}

extension QuantizationReport.OutputChange {
    fileprivate var text: String {
        guard let deltaE2000 else {
            return "outputs: SNR \(Format.fixed(snrDb ?? .infinity, 2)) dB"
        }
        return "colors: PSNR \(Format.fixed(psnrDb ?? .infinity, 2)) dB, "
            + "mean ΔE2000 \(Format.fixed(deltaE2000, 4))"
    }
}

extension QuantizationReport {
    /// The weights by increasing SNR, then those left unchanged with the reason, then activations.
    fileprivate var lines: [String] {
        (compressed.isEmpty ? [] : weightLines) + (activations.isEmpty ? [] : activationLines)
    }

    private var activationLines: [String] {
        let isMeasured = activations.contains { $0.effect != nil }
        var table = TextTable(
            header: ["activation", "as", "from", "to", "scale", "zero", "SNR dB"]
                + (isMeasured ? ["alone"] : []),
            rightAligned: [2, 3, 4, 5, 6, 7])
        for value in activations.sorted(by: { $0.rank < $1.rank }) {
            let effect = value.effect.map {
                $0.deltaE2000.map { "ΔE2000 \(Format.fixed($0, 4))" }
                    ?? "SNR \(Format.fixed($0.snrDb ?? .infinity, 1)) dB"
            }
            table.append([
                value.name, value.scheme ?? "float", Format.significant(Double(value.low)),
                Format.significant(Double(value.high)),
                value.scale.map { Format.significant(Double($0)) } ?? "-",
                value.zeroPoint.map(String.init) ?? "-",
                value.scheme == nil ? "-" : Format.fixed(value.snrDb ?? .infinity, 1),
            ] + (isMeasured ? [effect ?? "-"] : []))
        }
        return table.lines
    }

    private var weightLines: [String] {
        let isCalibrated = compressed.contains { $0.outputSnrDb != nil }
        var table = TextTable(
            header: ["weight", "operation", "shape", "as", "before", "after", "SNR dB"]
                + (isCalibrated ? ["output SNR dB"] : []),
            rightAligned: [4, 5, 6, 7])
        let worst = compressed.sorted { $0.score < $1.score }
        for weight in worst {
            table.append(
                [
                    weight.name, weight.operation, Self.text(weight.shape), weight.scheme,
                    Format.bytes(weight.bytesBefore), Format.bytes(weight.bytesAfter),
                    Format.fixed(weight.snrDb ?? .infinity, 1),
                ] + (isCalibrated ? [Format.fixed(weight.outputSnrDb ?? .infinity, 1)] : []))
        }
        return table.lines
            + skipped.map { "unchanged: \($0.name), \(Self.text($0.shape)): \($0.reason)" }
    }

    private static func text(_ shape: [Int]) -> String {
        shape.map(String.init).joined(separator: "×")
    }
}

extension QuantizationReport.Activation {
    /// Values whose quantization changes the outputs most come first.
    fileprivate var rank: Double {
        effect.map { $0.deltaE2000.map { -$0 } ?? $0.snrDb ?? .infinity } ?? snrDb ?? .infinity
    }
}

extension [QuantizationReport.Activation] {
    /// Which values stay floats, and what is known about their number; nil without a search.
    fileprivate func keptAsFloats(_ proof: QuantizationSearchReport.Proof?) -> String? {
        guard let proof, !isEmpty else { return nil }
        let kept = count { $0.scheme == nil }
        guard kept > 0 else { return "all \(count) activations are quantized" }
        let known =
            proof == .optimal
            ? "no smaller number is enough" : "none of them can be quantized in addition"
        return "\(kept) of \(count) activations stay floats: \(known)"
    }
}

extension QuantizationReport.Weight {
    fileprivate var score: Double { outputSnrDb ?? snrDb ?? .infinity }
}
