import ArgumentParser
import Retint

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare what a model gives with a reference.",
        discussion: """
            The model is read back from disk and run on the reference's inputs; every output is \
            compared. Exit code 0: all bounds hold; 2: one does not; 65: there is nothing to \
            compare, or names or shapes do not fit.

            Bounds, unless others are given. Float32: |error| at most 0.01, on the mean 0.001, \
            against a reference file; 1e-4 + 1e-5·|expected| against a checkpoint. Float16: PSNR \
            60 dB. Quantized weights: PSNR 38 dB and mean ΔE2000 1. PSNR has its peak at 220 for \
            ab. --atol and --rtol replace the bound on the mean too, --min-psnr that on ΔE2000.

            On the way, every value is looked at for NaN, infinities and how much of float16's \
            range it uses, and compared with the reference's activations/<module path>, or with \
            what the other model computes under the same name: the first one past the tolerance \
            shows where error arises. That decides nothing unless --layer-tolerance or \
            --layer-min-snr is given; otherwise the tolerance there is an error of 1e-4 of the \
            largest number for float32, 30 dB of SNR for float16 and 15 dB for quantized weights.

            The model runs on retint's own engine, not on Apple's runtime.
            """)

    @Argument(help: "A checkpoint or a package.")
    var model: String

    @Option(
        help: ArgumentHelp(
            "An HDF5 file with inputs/<name>, outputs/<name> and, optionally, "
                + "activations/<module path>.", valueName: "ref.h5"))
    var reference: String?

    @Option(
        help: ArgumentHelp(
            "Compare with this model, run in float32, instead of a file.", valueName: "model"))
    var against: String?

    @OptionGroup var lightness: LightnessOptions
    @OptionGroup var bounds: BoundOptions

    @Option(
        help: """
            The arithmetic: float32; float16, where every result is rounded; or mixed, where \
            those are that the package declares as float16.
            """)
    var compute: ComputePrecision?

    @Flag(help: "List all that is computed on the way.")
    var layers = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Also write a page with the photos side by side and the error along the network.",
            valueName: "file"))
    var html: String?

    func validate() throws {
        guard (reference == nil) != (against == nil) else {
            throw ValidationError("give either --reference or --against")
        }
        guard against != nil || !lightness.isGiven else {
            throw ValidationError("--photo, --photos, --size and --seed go with --against")
        }
    }

    func run() throws {
        try html.map { try refuseOverwriting(try inputFiles, with: $0) }
        let model = try Model(contentsOf: model)
        var options = options(for: model)
        let pictures = html.map { _ in PagePictures() }
        if let pictures { options.onColors = { pictures.add($0) } }
        let report = try report(on: model, options)
        if let html { try VerificationPage(report, pictures).write(to: html) }
        if json {
            try Console.printJSON(report)
        } else {
            for line in report.lines(allLayers: layers) { Console.print(line) }
        }
        guard report.passed else { throw Outcome.toleranceExceeded.exit }
    }

    private var inputFiles: Set<FileIdentity> {
        get throws {
            let paths = [model, reference, against].compactMap { $0 } + (try lightness.paths)
            return Set(paths.compactMap(FileIdentity.init(of:)))
        }
    }

    private func options(for model: Model) -> VerificationOptions {
        let isCoarser = compute == .float16 && model.precision == .float32
        let precision = isCoarser ? .float16 : model.precision
        let standard = Tolerance.standard(precision, isSameNetwork: against != nil)
        var options = VerificationOptions(
            compute: compute, tolerance: standard.replacing(with: bounds.tolerance),
            layerTolerance: bounds.layerTolerance ?? .standard(precision))
        options.layersDecide = bounds.layerTolerance != nil
        return options
    }

    private func report(
        on model: Model, _ options: VerificationOptions
    ) throws -> VerificationReport {
        guard let against else {
            return try verify(
                model, against: Reference(contentsOf: reference ?? ""), options: options)
        }
        let inputs = try lightness.inputs(shape: model.lightnessShape())
        return try verify(
            model, against: Model(contentsOf: against), on: inputs, options: options)
    }
}

extension ComputePrecision: ExpressibleByArgument {}

extension VerificationError: OutcomeError {
    package var outcome: Outcome { .badInput }
}
