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

            Default tolerance. Float32: absolute error 0.01, mean 0.001, against a reference file; \
            1e-4 + 1e-5·|expected| against a checkpoint. Float16: PSNR 60 dB. Quantized weights: \
            PSNR 38 dB and mean ΔE2000 1. The PSNR of ab has a peak of 220. Setting --atol or \
            --rtol removes the default bound on the mean error; setting --min-psnr removes the \
            one on ΔE2000.

            Intermediate values are checked for NaN, infinity and their share of float16's range, \
            and compared with the reference's activations/<module path>, or with the values of \
            the same names in the other model: the first one outside the tolerance shows where \
            the error arises. The model fails by them only if --layer-tolerance or \
            --layer-min-snr is given. Their default tolerance is an error of 1e-4 of the largest \
            value for float32, an SNR of 30 dB for float16 and of 15 dB for quantized weights.

            The model runs on retint's own engine, not on Apple's runtime; with --judge apple, \
            a .aimodel runs on Apple's Core AI runtime for Linux (Scripts/setup --coreai), and \
            with --judge both on either, beside the reference. Every judge has to pass. Apple's \
            runtime shows no intermediate values, and its default tolerance is that against a \
            reference file.

            Instead of a model, name a file that --save has written: what was measured is judged \
            again, and nothing runs. Without bounds, those of that run hold; with bounds, the \
            others are the default ones.
            """)

    @Argument(
        help: "A checkpoint, a package, or saved results.",
        completion: .file(extensions: ["h5", "mlpackage", "json"]))
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
        completion: .model)
    var against: String?

    @OptionGroup var judging: JudgeOptions
    @OptionGroup var lightness: LightnessOptions
    @OptionGroup var bounds: BoundOptions

    @Option(
        help: """
            The arithmetic: float32; float16, with every result rounded; or mixed, with the \
            results rounded that the package declares as float16.
            """)
    var compute: ComputePrecision?

    @OptionGroup var memory: MemoryOptions

    @OptionGroup var outputs: VerificationOutputs

    func validate() throws {
        guard !isJudgedAgain else { return try validateJudging() }
        guard (reference == nil) != (against == nil) else {
            throw ValidationError("give either --reference or --against")
        }
        guard against != nil || !lightness.isGiven else {
            throw ValidationError("--photo, --photos, --size and --seed need --against")
        }
        try validateForApple()
    }

    /// Refuses what Apple's runtime cannot do.
    private func validateForApple() throws {
        guard judging.judges.contains(.apple) else { return }
        guard compute == nil else {
            throw ValidationError(
                "--compute: Apple's runtime computes as the model says; use --judge retint")
        }
        guard judging.judges == [.apple] else { return }
        guard !bounds.boundsLayers, outputs.intermediates == nil else {
            throw ValidationError(
                "--layer-tolerance, --layer-min-snr and --intermediates need --judge retint or "
                    + "both: Apple's runtime shows no intermediate values")
        }
    }

    /// Refuses options for which the model would have to run.
    private func validateJudging() throws {
        let options: [(name: String, isGiven: Bool)] = [
            ("--reference", reference != nil), ("--against", against != nil),
            ("--photo, --photos, --size or --seed", lightness.isGiven),
            ("--compute", compute != nil), ("--memory-limit", memory.memoryLimit != nil),
            ("--judge", judging.isGiven), ("--html", outputs.html != nil),
            ("--save", outputs.save != nil), ("--intermediates", outputs.intermediates != nil),
        ]
        guard let option = options.first(where: \.isGiven) else { return }
        throw ValidationError(
            "\(option.name): \(model) has saved results, which are judged without a run; name the "
                + "model instead")
    }

    private var isJudgedAgain: Bool { VerificationResults.isFile(at: model) }

    func run() async throws {
        let claims = try outputs.claim(inputs: inputFiles)
        defer { for claim in claims { claim.end() } }
        let images = outputs.html.map { _ in JudgedImages() }
        let results = try await isJudgedAgain ? judgedAgain() : measured(images)
        try outputs.write(results, images)
        if let missing = results.missing.first {
            throw CommandError(.badInput, missing.description)
        }
        guard results.passed else { throw ExitStatus.toleranceExceeded.exit }
    }

    private var inputFiles: [String] {
        get throws {
            try [model, reference, against].compactMap { $0 } + lightness.paths
        }
    }
}

// MARK: Saved results

extension VerifyCommand {
    private func judgedAgain() throws -> VerificationResults {
        let saved = try VerificationResults(contentsOf: model)
        let environment = saved.environment
        Console.note(
            "judging \(model), which retint \(environment.retint) measured on "
                + environment.processor)
        guard bounds.areGiven else { return saved }
        return saved.judged { report in
            bounds.replacing(
                .standard(
                    report.precision, compute: report.compute, isSameNetwork: report.isSameNetwork))
        }
    }
}

// MARK: Running

extension VerifyCommand {
    private func measured(_ images: JudgedImages?) async throws -> VerificationResults {
        let environment = VerificationEnvironment(
            retint: retintVersion, processor: Processor.name)
        let judges = judging.judges
        guard judges.count > 1 else {
            return VerificationResults(
                [try await report(by: judges[0], images)], environment: environment)
        }
        // Before the other judge works.
        try await judging.runtime.check()
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
        }
    }

    private func options(
        _ precision: ModelPrecision, isSameNetwork: Bool, _ images: VerificationImages?
    ) -> VerificationOptions {
        var options = VerificationOptions(
            compute: compute,
            bounds: bounds.replacing(
                .standard(precision, compute: compute, isSameNetwork: isSameNetwork)))
        if let images { options.onColors = { images.add($0) } }
        return options
    }

    private func ownReport(_ images: VerificationImages?) throws -> VerificationReport {
        let model = try memory.model(contentsOf: model)
        var options = options(model.precision, isSameNetwork: against != nil, images)
        options.intermediates = outputs.intermediates
        guard let against else {
            return try verify(
                model, against: Reference(contentsOf: reference ?? ""), options: options)
        }
        let inputs = try lightness.inputs(shape: model.lightnessInput().shape)
        return try verify(
            model, against: memory.model(contentsOf: against), on: inputs, options: options)
    }

    private func appleReport(_ images: VerificationImages?) async throws -> VerificationReport {
        let model = try await AppleModel(contentsOf: model, runtime: judging.runtime)
        let options = options(model.precision, isSameNetwork: false, images)
        guard let against else {
            return try await verify(
                model, against: Reference(contentsOf: reference ?? ""), options: options)
        }
        let inputs = try lightness.inputs(shape: model.lightnessShape())
        return try await verify(
            model, against: memory.model(contentsOf: against), on: inputs, options: options)
    }
}

extension ComputePrecision: ExpressibleByArgument {}
