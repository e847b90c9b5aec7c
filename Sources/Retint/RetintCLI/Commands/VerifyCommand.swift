import ArgumentParser
import Retint

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare a model's outputs with a reference.",
        discussion: """
            The model is read from disk and run on the reference's inputs; every output is \
            compared. Exit code 0: within the tolerance; 2: outside; 65: nothing to compare, or \
            names or shapes do not match.

            Default tolerance. Float32: 4 times the error that float32 itself causes in the other \
            model, and PSNR 120 dB; against a reference file, absolute error 0.01, mean 0.001, \
            and 16 times the error of float32 in the model. Float16: PSNR 60 dB, and 8 times the \
            error that half precision causes. Quantized weights: PSNR 38 dB and mean ΔE2000 1. \
            The PSNR of ab has a peak of 220. Outputs of other networks have the default \
            tolerance of intermediate values, below, instead of those in dB. With --atol or \
            --rtol, the default bounds on the mean and on the relative error do not apply; with \
            --min-psnr, those on ΔE2000 and on the SNR do not; with any bound on errors, those on \
            the error of float32 or half precision itself do not.

            Intermediate values are checked for NaN, infinity and their share of float16's range, \
            and compared with the reference's activations/<module path>, or with the same values \
            of the other model: the first one outside the tolerance shows where the error arises. \
            They make the model fail if --layer-tolerance or --layer-min-snr is given, and by \
            default between float32 models whose export recorded the nodes. Their default \
            tolerance is an error of 1e-4 of the largest value for float32, or 4 times what \
            float32 itself loses where that is known, an SNR of 30 dB for float16 and of 15 dB \
            for quantized weights.

            Where errors come from: --stages compares the steps of the export, --error-sources \
            separates errors of weights and of arithmetic, --find-precision finds the operations \
            that need float32, and --reduce cuts out the part that is wrong. With \
            --find-precision, the report and the exit code are those of the written package. \
            --arithmetics evaluates the model in other arithmetics that devices may have, and \
            --certify bounds it for all inputs; without --reference or --against, it is then \
            compared with itself in float32.

            The model runs on retint's own engine, not on Apple's runtime. With --judge apple, \
            an .aimodel runs in Apple's Core AI runtime for Linux (PyPI's coreai-core), and \
            with --judge both in each of them; both must pass. Apple's runtime does not expose \
            intermediate values, and its default tolerance is that against a reference file.

            Instead of a model, you can pass a file written by --save: its measurements are \
            checked again, and nothing runs. Without bounds, those of that run apply; with bounds, \
            the defaults apply for the others. retint replay runs it again.

            For example:
              retint verify Colorizer.mlpackage --against best.h5
              retint verify Colorizer.mlpackage --reference ref.h5 --html report.html
            """)

    @Argument(
        help: "A checkpoint, a package, or saved results.",
        completion: .modelOrResults, transform: modelPath)
    var model: String

    @Option(
        help: ArgumentHelp(
            "An HDF5 file with inputs/<name>, outputs/<name> and, optionally, "
                + "activations/<module path>; or a folder NAME.aimodelintermediates.",
            valueName: "ref.h5"), completion: .checkpoint)
    var reference: String?

    @Option(
        help: ArgumentHelp(
            "Compare with this model, run in float32, instead of a file.", valueName: "model"),
        completion: .model, transform: modelPath)
    var against: String?

    /// The other model: the model itself, if only its arithmetics or a certificate are requested.
    private var other: String? {
        against ?? (reference == nil && diagnosis.needsNoOther ? model : nil)
    }

    @OptionGroup var judging: JudgeOptions
    @OptionGroup var input: InputOptions
    @OptionGroup var bounds: BoundOptions

    @Option(
        help: """
            The arithmetic: float32; float16, which rounds every result; or mixed, which rounds \
            the results that the package declares as float16.
            """)
    var compute: ComputePrecision?

    @OptionGroup var diagnosis: DiagnosisOptions

    @OptionGroup var memory: MemoryOptions

    @Option(help: "The number of threads; default: all processors.")
    var threads: Int?

    @OptionGroup var outputs: VerificationOutputs

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        guard !isJudgedAgain else { return try validateJudging() }
        guard (reference == nil) != (other == nil) else {
            throw ValidationError("give either --reference or --against")
        }
        let seedsDiagnosis = diagnosis.needsNoOther && input.isOnlySeed
        guard other != nil || !input.isGiven || seedsDiagnosis else {
            throw ValidationError(
                "--photo, --photos, --inputs, --range, --size, --noise and --seed need --against")
        }
        try validateDiagnosis()
        try validateForApple()
    }

    private func validateDiagnosis() throws {
        let comparing = diagnosis.given.filter {
            !["--reduce", "--arithmetics", "--certify"].contains($0)
        }
        guard other != nil || comparing.isEmpty && bounds.bound != .half else {
            throw ValidationError("\(comparing.first ?? "--bound half") needs --against")
        }
        guard judging.also == nil || !diagnosis.findPrecision else {
            throw ValidationError(
                "--find-precision changes the model; give --also when verifying the result")
        }
        let own = ["--error-sources", "--find-precision"].filter(diagnosis.given.contains)
        guard compute == nil || own.isEmpty else {
            throw ValidationError(
                "\(own[0]) runs the package in its own arithmetic; omit --compute")
        }
        guard bounds.bound != .half || diagnosis.reduce == nil else {
            throw ValidationError(
                "--reduce: half precision is not measured for a part of a network; omit "
                    + "--bound half")
        }
        let files = outputs.files + diagnosis.files
        guard Set(files).count == files.count else {
            throw ValidationError("the outputs must be different files")
        }
    }

    /// Refuses what Apple's runtime cannot do.
    private func validateForApple() throws {
        guard judging.judges.contains(.apple) else { return }
        guard !diagnosis.findPrecision, bounds.bound != .half else {
            throw ValidationError(
                "\(diagnosis.findPrecision ? "--find-precision" : "--bound half") needs --judge "
                    + "retint: Apple's runtime uses the arithmetic of the model")
        }
        guard compute == nil else {
            throw ValidationError(
                "--compute: Apple's runtime uses the arithmetic of the model; use --judge retint")
        }
        guard !judging.judges.contains(.retint) else { return }
        if let option = diagnosis.given.first {
            throw ValidationError("\(option) needs --judge retint or both")
        }
        guard !bounds.boundsLayers, outputs.intermediates == nil, outputs.overlay.isEmpty else {
            throw ValidationError(
                "--layer-tolerance, --layer-min-snr, --intermediates and --overlay need --judge "
                    + "retint or both: Apple's runtime does not expose intermediate values")
        }
    }

    /// Refuses options that would have to run the model.
    private func validateJudging() throws {
        let options: [(name: String, isGiven: Bool)] = [
            ("--reference", reference != nil), ("--against", against != nil),
            ("--photo, --photos, --inputs, --range, --size, --noise or --seed", input.isGiven),
            ("--compute", compute != nil), ("--memory-limit", memory.memoryLimit != nil),
            ("--threads", threads != nil), ("--judge", judging.isGiven),
            ("--html", outputs.html != nil),
            ("--save", outputs.save != nil), ("--intermediates", outputs.intermediates != nil),
            ("--overlay FILE.onnx", !outputs.copies.isEmpty),
        ]
        let others = diagnosis.given.map { (name: $0, isGiven: true) }
        guard let option = (options + others).first(where: \.isGiven) else { return }
        throw ValidationError(
            "\(option.name): \(model) has saved results, and no model is run; name the "
                + "model instead")
    }

    private var isJudgedAgain: Bool { VerificationResults.isFile(at: model) }

    func run() async throws {
        try check(threads, "--threads", Execution.threadRange)
        let inputs = try inputFiles
        let claims = try (outputs.files + diagnosis.files).map {
            try OutputClaim($0, inputs: inputs)
        }
        defer { for claim in claims { claim.end() } }
        if !outputs.copies.isEmpty { try VerificationResults.checkAnnotatable(model) }
        let images = outputs.html.map { _ in JudgedImages() }
        let record = try outputs.save.map { try self.record(savedAt: $0) }
        var results = try await isJudgedAgain ? judgedAgain() : measured(images)
        results.record = record ?? results.record
        try outputs.write(results, of: model, images)
        if let missing = results.missing.first {
            throw CommandError(.input, missing.description)
        }
        guard results.passed else { throw ExitStatus.toleranceExceeded.exit }
    }

    private var inputFiles: [String] {
        get throws {
            try [model, reference, against].compactMap { $0 } + input.paths
        }
    }
}

// MARK: Saved results

extension VerifyCommand {
    private func judgedAgain() throws -> VerificationResults {
        let saved = try VerificationResults(contentsOf: model)
        let environment = saved.environment
        Console.note(
            "checking \(model), which retint \(environment.retint) measured on "
                + environment.processor)
        guard bounds.areGiven else { return saved }
        let measured = saved.reports.flatMap(\.outputs).allSatisfy { $0.half != nil }
        guard bounds.bound != .half || measured else {
            throw CommandError(
                .usage,
                "\(model): the error of half precision was not measured; verify again with "
                    + "--bound half and save the results")
        }
        return saved.judged { report in
            bounds.replacing(
                .standard(
                    report.precision, compute: report.compute,
                    isSameNetwork: report.isSameNetwork, isColorizer: report.isColorizer,
                    measuresRounding: bounds.measuresRounding))
        }
    }
}

// MARK: Running

extension VerifyCommand {
    private var execution: Execution {
        var execution = memory.execution
        execution.threads = threads
        return execution
    }

    /// That of the measurement.
    var environment: VerificationResults.Environment {
        VerificationResults.Environment(processor: Processor.name, execution)
    }

    /// Runs the model in all requested runtimes.
    func measured(_ images: JudgedImages? = nil) async throws -> VerificationResults {
        let judges = judging.judges
        guard judges.count > 1 else {
            return VerificationResults(
                [try await report(by: judges[0], images)], environment: environment)
        }
        // Before the other runtime starts.
        if judges.contains(.apple) { try await judging.runtime.check() }
        var run = JudgedRun()
        for judge in judges {
            try await run.add(judge) { try await report(by: judge, images) }
        }
        if run.reports.isEmpty, let error = run.firstError { throw error }
        return VerificationResults(run.reports, missing: run.missing, environment: environment)
    }

    private func report(
        by judge: Judge, _ images: JudgedImages?
    ) async throws -> VerificationReport {
        switch judge {
        case .retint: try ownReport(images?[judge])
        case .apple: try await appleReport(images?[judge])
        case .cuda: try ownReport(images?[judge], on: judging.also)
        }
    }

    private func options(
        _ precision: ModelPrecision, isSameNetwork: Bool, isColorizer: Bool,
        _ images: VerificationImages?
    ) -> VerificationOptions {
        var options = VerificationOptions(
            compute: compute,
            bounds: bounds.replacing(
                .standard(
                    precision, compute: compute, isSameNetwork: isSameNetwork,
                    isColorizer: isColorizer, measuresRounding: bounds.measuresRounding)))
        if let images { options.onColors = { images.add($0) } }
        return options
    }

    private func opened(_ path: String) throws -> Model {
        try Model(contentsOf: path, form: .file, execution: execution)
    }

    /// What the model is compared with.
    private enum Expected {
        case reference(Reference)
        case model(Model)

        var isColorizer: Bool {
            get throws {
                switch self {
                case .reference(let reference): reference.isColorizer
                case .model(let model): try model.interface.isColorizer
                }
            }
        }
    }

    private var expected: Expected {
        get throws {
            if let other { return .model(try opened(other)) }
            return .reference(try Reference(contentsOf: reference ?? ""))
        }
    }

    /// - Parameter device: another one than the processors, without diagnoses.
    private func ownReport(
        _ images: VerificationImages?, on device: Execution.Device? = nil
    ) throws -> VerificationReport {
        var (model, expected) = (try opened(model), try expected)
        if case .model(let other) = expected {
            let other = try other.inForm(
                of: model, range: input.range, results: input.outputRange)
            model = try model.inForm(of: other, range: input.range, results: input.outputRange)
            expected = .model(other)
            for model in [model, other] {
                warnOfRange(of: model)
                noteFunction(of: model)
            }
            try checkRange(model)
        } else if case .reference(let reference) = expected {
            model = try model.inForm(of: reference)
        }
        if let device {
            model.execution.device = device
            return try plainReport(on: model, expected, images)
        }
        let report = try ownReport(on: model, expected, images)
        warn(about: model, passed: report.passed)
        if !report.passed { try warnOfColorOrder(model, expected) }
        return report
    }

    /// A network may take blue first as well as its package does, which nothing says.
    private func warnOfColorOrder(_ model: Model, _ expected: Expected) throws {
        guard case .model(let other) = expected,
            let image = try model.interface.inputs.first(where: { $0.colorLayout == .bgr }),
            try opened(other.name).interface.inputs.allSatisfy({ $0.colorLayout == nil })
        else { return }
        Console.warn(
            "\(model.name): input \(image.name) is an image with blue first (BGR), and "
                + "\(other.name) was given the same photos with red first. If it takes blue first, "
                + "too, compare them in Python: retint.verify(package, module, pixels, "
                + "reference_inputs=…)")
    }

    private func checkRange(_ model: Model) throws {
        let takesImage = try model.interface.inputs.contains { $0.colorLayout != nil }
        guard input.range == nil || input.takesPhotos || takesImage else {
            throw CommandError(
                .usage, "--range: \(model.name) takes no image; it needs --photo or --photos")
        }
    }

    /// Names faults of the converter of a package: those that are present, and, if the package
    /// failed, those that may be why.
    private func warn(about model: Model, passed: Bool) {
        guard let package = model.package else { return }
        for finding in ConverterFinding.findings(in: package)
        where finding.certainty == .present || !passed {
            Console.warn("\(model.name): \(finding.warning)")
        }
    }

    private func plainReport(
        on model: Model, _ expected: Expected, _ images: VerificationImages?
    ) throws -> VerificationReport {
        let options = try options(model, expected, images)
        switch expected {
        case .reference(let reference):
            return try model.verify(against: reference, options: options)
        case .model(let other):
            return try model.verify(
                against: other, on: inputs(of: model, beside: other), options: options)
        }
    }

    private func options(
        _ model: Model, _ expected: Expected, _ images: VerificationImages?
    ) throws -> VerificationOptions {
        // A model differs from a less exact one by what that one loses.
        var precision = model.precision
        if case .model(let other) = expected { precision = ModelDiff.coarser(other, model) }
        return options(
            precision, isSameNetwork: other != nil,
            isColorizer: try expected.isColorizer, images)
    }

    /// The inputs of a model, at a size that the other one takes as well, if there is one.
    private func inputs(of model: Model, beside other: Model) throws -> VerificationInputs {
        try input.inputs(
            of: model.interface,
            shapes: ModelDiff.inputShapes(of: other, model, size: input.size), model: model.name)
    }

    private func ownReport(
        on model: Model, _ expected: Expected, _ images: VerificationImages?
    ) throws -> VerificationReport {
        var options = try options(model, expected, images)
        options.intermediates = outputs.intermediates
        switch expected {
        case .reference(let reference): return try report(on: model, reference, options)
        case .model(let other): return try report(on: model, against: other, options)
        }
    }

    private func report(
        on model: Model, _ reference: Reference, _ options: VerificationOptions
    ) throws -> VerificationReport {
        var report = try model.verify(against: reference, options: options)
        report.diagnosis.arithmetics = try survey(model, report.compute) { [report] in
            try model.survey(
                $0.arithmetics, seed: $0.seed, against: reference, report: report, onRun: $0.onRun)
        }
        try certify(model, &report)
        try reduce(&report) {
            try model.reduce(against: reference, options: options, onRun: $0)
        }
        return report
    }

    private func report(
        on model: Model, against other: Model, _ options: VerificationOptions
    ) throws -> VerificationReport {
        let inputs = try inputs(of: model, beside: other)
        let cured = try diagnosis.findPrecision ? cured(model, other, inputs, options) : nil
        let model = cured?.model ?? model
        var report = try model.verify(against: other, on: inputs, options: options)
        report.diagnosis.precisionSearch = cured?.search
        let stages = try diagnosis.stageList
        if !stages.isEmpty {
            report.diagnosis.stages = try model.compareStages(
                stages, against: other, on: inputs, options: options)
        }
        if diagnosis.errorSources {
            report.diagnosis.errorSources = try model.errorSources(
                against: other, on: inputs, options: options)
        }
        report.diagnosis.arithmetics = try survey(model, report.compute) { [report] in
            try model.survey(
                $0.arithmetics, seed: $0.seed, against: other, on: inputs, report: report,
                onRun: $0.onRun)
        }
        try certify(model, &report)
        try reduce(&report) {
            try model.reduce(against: other, on: inputs, options: options, onRun: $0)
        }
        return report
    }

    private typealias Survey = (
        arithmetics: [DeviceArithmetic], seed: UInt64?, onRun: (Int, Int) -> Void
    )

    /// What becomes of the model in the arithmetics that are requested; nil without them.
    private func survey(
        _ model: Model, _ compute: ComputePrecision,
        _ run: (Survey) throws -> VerificationReport.ArithmeticSurvey
    ) throws -> VerificationReport.ArithmeticSurvey? {
        let (arithmetics, seed): ([DeviceArithmetic], UInt64?)
        switch diagnosis.arithmetics {
        case nil: return nil
        case .named(let arithmetic): (arithmetics, seed) = ([arithmetic], nil)
        case .drawn(let count):
            let chosen = input.seed ?? 0
            arithmetics = model.arithmetics(count, compute: compute, seed: chosen)
            seed = chosen
        }
        let bar = ProgressBar("arithmetics", total: 0, unit: "runs")
        defer { bar.finish() }
        return try run((arithmetics, seed, { done, _ in bar.update(done) }))
    }

    /// Writes the smallest part that fails, if that is requested and there is one.
    private func reduce(
        _ report: inout VerificationReport,
        _ search: (@escaping (Int) -> Void) throws -> PackageReduction?
    ) throws {
        guard let path = diagnosis.reduce, let file = diagnosis.reducedReference else { return }
        let bar = ProgressBar("reducing", total: 0, unit: "runs")
        guard let reduction = try search({ bar.update($0) }) else {
            return Console.note("\(model): no output fails, so there is nothing to reduce")
        }
        bar.finish()
        try reduction.write(to: path, reference: file)
        report.diagnosis.reduction = reduction.summary
    }

    /// Writes the package with the operations in float32 that need it.
    ///
    /// - Returns: that package, read again; the model itself if not even all are enough.
    private func cured(
        _ model: Model, _ other: Model, _ inputs: VerificationInputs,
        _ options: VerificationOptions
    ) throws -> (model: Model, search: PrecisionSearch.Summary) {
        let bar = ProgressBar("finding operations for float32", total: 0, unit: "runs")
        let search = try model.findPrecision(
            against: other, on: inputs, options: options,
            maximumRuns: diagnosis.maxRuns ?? 500, onRun: { bar.update($0) })
        bar.finish()
        guard let package = search.package, let output = diagnosis.output else {
            return (model, search.summary)
        }
        try package.write(to: output)
        return (try opened(output), search.summary)
    }

    private func appleReport(_ images: VerificationImages?) async throws -> VerificationReport {
        let model = try await AppleModel(contentsOf: model, runtime: judging.runtime)
        let expected = try expected
        let options = options(
            model.precision, isSameNetwork: false, isColorizer: try expected.isColorizer, images)
        switch expected {
        case .reference(let reference):
            return try await model.verify(against: reference, options: options)
        case .model(let other):
            let interface = try model.interface(like: other)
            let inputs = try input.inputs(
                of: interface, shapes: interface.inputShapes(size: input.size, of: model.path),
                model: model.path)
            return try await model.verify(against: other, on: inputs, options: options)
        }
    }
}
