import ArgumentParser
import Retint

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a checkpoint as a Core ML package, or either as weights for PyTorch.",
        discussion: """
            The package takes L as `input` and gives a and b as `ab`, or as `output_a` and \
            `output_b`. The same checkpoint and options give the same bytes. Prove the package \
            with `retint verify OUT.mlpackage --against CHECKPOINT`. An output that ends in .h5 or \
            .safetensors takes the weights of the checkpoint, or of a package, as a state dict.
            """)

    @Argument(help: "The checkpoint; for weights, a checkpoint or a package.")
    var checkpoint: String

    @Option(
        name: [.customShort("o"), .customLong("package")],
        help: "The package to write (.mlpackage), or the weights (.h5, .safetensors).")
    var package: String

    @Option(help: "The oldest system that the package runs on: iOS15, iOS16, iOS17 or iOS18.")
    var target = ExportOptions.Target.iOS15

    @OptionGroup(title: "Precision") var precision: ExportPrecisionOptions

    @OptionGroup(title: "Sizes") var sizes: ExportSizeOptions

    @OptionGroup(title: "Interface") var interface: ExportInterfaceOptions

    @Flag(
        name: .customLong("no-fold"),
        help: """
            Keep batch normalizations as operations; those right behind a convolution go into its \
            weights otherwise.
            """)
    var keepsBatchNorm = false

    @OptionGroup(title: "Metadata") var metadata: ExportMetadataOptions

    @OptionGroup(title: "Weights") var weights: ExportWeights

    func validate() throws { try weights.check(output: package) }

    func run() throws {
        var options = ExportOptions(target: target)
        sizes.apply(to: &options)
        interface.apply(to: &options)
        metadata.apply(to: &options)
        options.foldsBatchNorm = !keepsBatchNorm
        if ExportWeights.isAsked(by: package) {
            return try weights.run(checkpoint, to: package, precision.isDefault ? options : nil)
        }
        guard try !isDirectory(checkpoint) else {
            throw CommandError(
                .wrongUsage,
                """
                \(checkpoint): is a package already. `retint quantize` makes its weights smaller. \
                For another precision, target or interface take its weights back \
                (retint export \(checkpoint) -o weights.h5), import them and export the checkpoint
                """)
        }
        let source = try ExportSource(Checkpoint(contentsOf: checkpoint))
        try precision.apply(to: &options, for: source)
        report(try exportPackage(source, to: package, options: options), options)
    }

    private func report(_ summary: ExportSummary, _ options: ExportOptions) {
        for tensor in summary.clamped {
            Console.warn("\(tensor.name): \(tensor.count) numbers became ±65504")
        }
        if let multiple = summary.sizeMultiple {
            Console.note(
                "the network takes multiples of \(multiple); Core ML cannot be told so, so give "
                    + "it no other sizes")
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

/// What a model takes and gives.
struct ExportInterfaceOptions: ParsableArguments {
    @Option(help: "A multi-array of L (tensor), or a grayscale picture (image).")
    var input = ExportOptions.Input.tensor

    @Option(help: "One output of both channels (ab), or one for each (split).")
    var output = ExportOptions.Output.ab

    @Option(
        help: """
            Whether the model takes L in 0…100 and gives a and b in −110…110 (inside), or takes \
            (L − 50)/100 and gives a/110 and b/110 (outside).
            """)
    var normalization = ExportOptions.Normalization.inside

    @Option(
        parsing: .unconditional,
        help: """
            What pixels are multiplied by, as ImageType has it in coremltools (1 once a bias is \
            given); if neither is given, 0…255 stand for L in 0…100.
            """)
    var imageScale: Float?

    @Option(
        parsing: .unconditional,
        help: "What is added to pixels after that (0 once a scale is given).")
    var imageBias: Float?

    func validate() throws {
        guard input == .image || imageScale == nil && imageBias == nil else {
            throw ValidationError("--image-scale and --image-bias go with --input image")
        }
    }

    func apply(to options: inout ExportOptions) {
        (options.input, options.output) = (input, output)
        options.normalization = normalization
        guard imageScale != nil || imageBias != nil else { return }
        options.imageScaling = .init(scale: imageScale ?? 1, bias: imageBias ?? 0)
    }
}

/// What a package says of itself.
struct ExportMetadataOptions: ParsableArguments {
    @Option(help: "Who made the model, for the package's metadata.")
    var author = ""

    @Option(help: "Under which license, for the package's metadata.")
    var license = ""

    @Option(help: "Which version of the model it is, for the package's metadata.")
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
