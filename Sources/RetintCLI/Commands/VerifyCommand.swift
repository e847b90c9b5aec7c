import ArgumentParser
import Retint

struct VerifyCommand: ParsableCommand {
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
            The arithmetic: float32; float16, with every result rounded; or mixed, with the \
            results rounded that the package declares as float16.
            """)
    var compute: ComputePrecision?

    @Flag(help: "List all intermediate values.")
    var layers = false

    @OptionGroup var memory: MemoryOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Also write an HTML page with the images and a plot of the error along the network.",
            valueName: "file"))
    var html: String?

    func validate() throws {
        guard (reference == nil) != (against == nil) else {
            throw ValidationError("give either --reference or --against")
        }
        guard against != nil || !lightness.isGiven else {
            throw ValidationError("--photo, --photos, --size and --seed need --against")
        }
    }

    func run() throws {
        let claim = try html.map { try claimOutput($0, inputs: inputFiles) }
        defer { claim?.end() }
        let model = try memory.model(contentsOf: model)
        var options = options(for: model)
        let images = html.map { _ in VerificationImages() }
        if let images { options.onColors = { images.add($0) } }
        let report = try report(on: model, options)
        if let html { try VerificationPage(report, images).write(to: html) }
        if json {
            try Console.printJSON(report)
        } else {
            for line in report.lines(allLayers: layers) { Console.print(line) }
        }
        guard report.passed else { throw ExitStatus.toleranceExceeded.exit }
    }

    private var inputFiles: [String] {
        get throws {
            try [model, reference, against].compactMap { $0 } + lightness.paths
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
        let inputs = try lightness.inputs(shape: model.lightnessInput().shape)
        return try verify(
            model, against: memory.model(contentsOf: against), on: inputs, options: options)
    }
}

extension ComputePrecision: ExpressibleByArgument {}
