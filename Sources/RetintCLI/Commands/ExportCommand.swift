import ArgumentParser
import Retint

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Convert a checkpoint to a Core ML package, or a model to PyTorch weights.",
        discussion: """
            The package's input is L, named `input`; its output is a and b, named `ab`, or \
            `output_a` and `output_b`. The same checkpoint and options give the same bytes. Check \
            the package with `retint verify OUT.mlpackage --against CHECKPOINT`. If the output \
            name ends in .h5 or .safetensors, the weights of the checkpoint or package are \
            written as a state dict.
            """)

    @Argument(help: "The checkpoint; for weights, a checkpoint or a package.", completion: .model)
    var checkpoint: String

    @Option(
        name: [.customShort("o"), .customLong("package")],
        help: "The package to write (.mlpackage), or the weights (.h5, .safetensors).",
        completion: .file(extensions: ["mlpackage", "h5", "safetensors"]))
    var package: String

    @Option(help: "The oldest system that the package runs on: iOS15, iOS16, iOS17 or iOS18.")
    var target = ExportOptions.Target.iOS15

    @OptionGroup(title: "Precision") var precision: ExportPrecisionOptions

    @OptionGroup(title: "Sizes") var sizes: ExportSizeOptions

    @OptionGroup(title: "Interface") var interface: ExportInterfaceOptions

    @Flag(
        name: .customLong("no-fold"),
        help: """
            Keep batch normalizations as operations instead of folding those after a convolution \
            into its weights.
            """)
    var keepsBatchNorm = false

    @OptionGroup(title: "Metadata") var metadata: ExportMetadataOptions

    @OptionGroup(title: "Weights") var weights: ExportWeights

    func validate() throws { try weights.check(output: package) }

    func run() throws {
        let claim = try claimOutput(package, inputs: [checkpoint])
        defer { claim.end() }
        var options = ExportOptions(target: target)
        sizes.apply(to: &options)
        interface.apply(to: &options)
        metadata.apply(to: &options)
        options.foldsBatchNorm = !keepsBatchNorm
        if ExportWeights.isRequested(by: package) {
            return try weights.run(checkpoint, to: package, precision.isDefault ? options : nil)
        }
        guard try !isDirectory(checkpoint) else {
            throw CommandError(
                .wrongUsage,
                """
                \(checkpoint): is a package already. `retint quantize` makes its weights smaller. \
                For another precision, target or interface, recover its weights \
                (retint export \(checkpoint) -o weights.h5), import them and export the checkpoint
                """)
        }
        let source = try ExportSource(Checkpoint(contentsOf: checkpoint))
        try precision.apply(to: &options, for: source)
        report(try exportPackage(source, to: package, options: options), options)
    }

    private func report(_ summary: ExportSummary, _ options: ExportOptions) {
        for tensor in summary.clamped {
            Console.warn("\(tensor.name): \(tensor.count) values clamped to ±65504")
        }
        if let multiple = summary.sizeMultiple {
            Console.note(
                "the network needs sizes that are multiples of \(multiple); Core ML cannot express "
                    + "this, so pass it no other sizes")
        }
        let kept = summary.keptInFloat32
        if !kept.isEmpty { Console.note("in float32: \(kept.joined(separator: ", "))") }
        Console.print(
            "\(package): \(kept.isEmpty ? options.precision.rawValue : "mixed"), "
                + "\(options.target.rawValue), \(summary.operationCount) operations"
                + (kept.isEmpty ? "" : ", \(kept.count) of them in float32")
                + ", \(Format.grouped(summary.weightCount)) weights")
    }
}

/// The inputs and outputs of the package.
struct ExportInterfaceOptions: ParsableArguments {
    @Option(help: "The input: a multi-array of L (tensor), or a grayscale image (image).")
    var input = ExportOptions.Input.tensor

    @Option(help: "One output of both channels (ab), or one per channel (split).")
    var output = ExportOptions.Output.ab

    @Option(
        help: """
            Where values are normalized: in the model, with L in 0…100 and a and b in −110…110 \
            (inside), or by the caller, with (L − 50)/100, a/110 and b/110 (outside).
            """)
    var normalization = ExportOptions.Normalization.inside

    @Option(
        parsing: .unconditional,
        help: """
            The scale of pixels, as of ImageType in coremltools; 1 if only a bias is given. \
            Without either, pixels 0…255 are L 0…100.
            """)
    var imageScale: Float?

    @Option(
        parsing: .unconditional,
        help: "The bias of scaled pixels; 0 if only a scale is given.")
    var imageBias: Float?

    func validate() throws {
        guard input == .image || imageScale == nil && imageBias == nil else {
            throw ValidationError("--image-scale and --image-bias need --input image")
        }
    }

    func apply(to options: inout ExportOptions) {
        (options.input, options.output) = (input, output)
        options.normalization = normalization
        guard imageScale != nil || imageBias != nil else { return }
        options.imageScaling = .init(scale: imageScale ?? 1, bias: imageBias ?? 0)
    }
}

/// The metadata of the package.
struct ExportMetadataOptions: ParsableArguments {
    @Option(help: "The author in the package's metadata.")
    var author = ""

    @Option(help: "The license in the package's metadata.")
    var license = ""

    @Option(help: "The model version in the package's metadata.")
    var modelVersion = ""

    func apply(to options: inout ExportOptions) {
        (options.author, options.license) = (author, license)
        options.version = modelVersion
    }
}

extension ExportOptions.Target: ExpressibleByArgument {}
extension ExportOptions.Input: ExpressibleByArgument {}
extension ExportOptions.Output: ExpressibleByArgument {}
extension ExportOptions.Normalization: ExpressibleByArgument {}
