import ArgumentParser
import Retint

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Convert a model to Core ML, Core AI, ONNX or PyTorch weights.",
        discussion: """
            The format is that of the output's extension. A model's input is L, named `input`; its \
            output is a and b, named `ab`, or `output_a` and `output_b`. The same checkpoint and \
            options give the same bytes. Check a package with \
            `retint verify OUT.mlpackage --against CHECKPOINT`.

            To Core AI and ONNX, a checkpoint or a package is written; a package as it is, with \
            its compressed weights. Weights that ONNX cannot hold compressed are listed. To .h5 or \
            .safetensors, the weights of a checkpoint or package are written as a state dict.
            """)

    @Argument(
        help: "The checkpoint; for Core AI, ONNX and weights, a checkpoint or a package.",
        completion: .model)
    var checkpoint: String

    @Option(
        name: [.customShort("o"), .customLong("package")],
        help: """
            What to write: a package (.mlpackage), a Core AI model (.aimodel), ONNX (.onnx), or \
            weights (.h5, .safetensors).
            """,
        completion: .file(extensions: ["mlpackage", "aimodel", "onnx", "h5", "safetensors"]))
    var package: String

    @Option(
        help: """
            The oldest system that the package runs on: iOS15, iOS16, iOS17, iOS18 or iOS26; \
            default: iOS15.
            """)
    var target: ExportOptions.Target?

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

    @Flag(
        help: """
            For a package: write it with other forms of operations of which a device is known to \
            compute something else (`retint inspect --placement`), where there is such a form.
            """)
    var avoidWrongNumbers = false

    @OptionGroup(title: "Metadata") var metadata: ExportMetadataOptions

    @OptionGroup(title: "ONNX") var onnx: ExportONNX

    @OptionGroup(title: "Weights") var weights: ExportWeights

    func validate() throws { try ExportFormat(output: package).check(given) }

    /// The names of the options that were given, by group.
    private var given: [ExportOptionGroup: [String]] {
        [
            .target: RetintCLI.given(["--target": target != nil]),
            .rewriting: RetintCLI.given(["--avoid-wrong-numbers": avoidWrongNumbers]),
            .precision: precision.given,
            .sizes: sizes.given, .interface: interface.given,
            .folding: RetintCLI.given(["--no-fold": keepsBatchNorm]), .metadata: metadata.given,
            .onnx: onnx.given, .foldedWeights: weights.given,
        ]
    }

    func run() throws {
        let claim = try claimOutput(package, inputs: [checkpoint])
        defer { claim.end() }
        switch try ExportFormat(output: package) {
        case .package: try writePackage()
        case .aiModel: try writeTranslation(writeAIModel)
        case .onnx:
            try writeTranslation { model, precision in
                try onnx.write(model, from: checkpoint, to: package, precision: precision)
            }
        case .weights: try weights.run(checkpoint, to: package)
        }
    }

    private func writePackage() throws {
        guard try !MLPackage.isPackage(checkpoint) else { return try rewritePackage() }
        guard !avoidWrongNumbers else {
            throw CommandError(
                .wrongUsage,
                "\(checkpoint): is no package; --avoid-wrong-numbers replaces operations of one")
        }
        let source = try ExportSource(Checkpoint(contentsOf: checkpoint))
        let options = try options(for: source)
        let summary = try exportPackage(source, to: package, options: options)
        report(summary)
        Console.print(
            "\(package): \(precision(options, summary)), \(options.target.rawValue), "
                + "\(summary.operationCount) operations"
                + (summary.keptInFloat32.isEmpty
                    ? "" : ", \(summary.keptInFloat32.count) of them in float32")
                + ", \(Format.grouped(summary.weightCount)) weights")
    }

    private func rewritePackage() throws {
        let model = try MLPackage(contentsOfModel: checkpoint)
        guard avoidWrongNumbers else {
            guard try MLPackage.isAIModel(checkpoint) else {
                throw CommandError(.wrongUsage, "\(checkpoint): is a package already. \(otherWays)")
            }
            try refuseConversion([.target])
            try model.write(to: package)
            return Console.print("\(package): \(Format.bytes(try totalBytes(of: package)))")
        }
        try refuseConversion([.target])
        let (changed, replaced) = try model.avoidingWrongNumbers()
        try changed.write(to: package)
        let names = replaced.isEmpty ? "" : ": " + replaced.joined(separator: ", ")
        Console.print("\(package): \(replaced.count) operations replaced\(names)")
    }

    /// Writes the network of a checkpoint, or a package as it is, in a format other than Core ML.
    ///
    /// - Parameter write: writes a package; it gets the precision of a network that was made from a
    ///   checkpoint.
    private func writeTranslation(
        _ write: (_ model: MLPackage, _ precision: String?) throws -> Void
    ) throws {
        guard try !MLPackage.isPackage(checkpoint) else {
            try refuseConversion()
            return try write(MLPackage(contentsOfModel: checkpoint), nil)
        }
        let source = try ExportSource(Checkpoint(contentsOf: checkpoint))
        var options = try options(for: source)
        // The target with the most operations: what the format does not have is translated.
        options.target = .iOS26
        let (model, summary) = try naming(checkpoint) { try summarizedPackage(source, options) }
        report(summary)
        try write(model, precision(options, summary))
    }

    private func writeAIModel(_ model: MLPackage, _ precision: String?) throws {
        try naming(checkpoint) {
            try model.writeAIModel(to: package, producer: RetintCommand.producer)
        }
        let bytes = Format.bytes(try totalBytes(of: package))
        Console.print(
            "\(package): \([precision, bytes].compactMap(\.self).joined(separator: ", "))")
    }

    /// Refuses options that need a checkpoint.
    private func refuseConversion(_ others: Set<ExportOptionGroup> = []) throws {
        let refused = ExportOptionGroup.ofNetworks.union(others)
        let names = ExportOptionGroup.allCases.filter(refused.contains)
            .flatMap { given[$0] ?? [] }
        guard let name = names.first else { return }
        throw CommandError(
            .wrongUsage,
            "\(checkpoint): a package is written as it is, so \(name) has no meaning. \(otherWays)")
    }

    /// How to change a package.
    private var otherWays: String {
        """
        `retint quantize` makes its weights smaller. For another precision, target or interface, \
        recover its weights (retint export \(checkpoint) -o weights.h5), import them and export \
        the checkpoint
        """
    }

    private func options(for source: ExportSource) throws -> ExportOptions {
        var options = ExportOptions(target: target ?? .iOS15)
        if let only = source.colorizer.onlySize {
            (options.width, options.height) = (only.width, only.height)
        }
        if !sizes.given.isEmpty { sizes.apply(to: &options) }
        interface.apply(to: &options)
        metadata.apply(to: &options)
        options.foldsBatchNorm = !keepsBatchNorm
        try precision.apply(to: &options, for: source)
        return options
    }

    private func precision(_ options: ExportOptions, _ summary: ExportSummary) -> String {
        summary.keptInFloat32.isEmpty ? options.precision.rawValue : "mixed"
    }

    private func report(_ summary: ExportSummary) {
        for tensor in summary.clamped {
            Console.warn("\(tensor.name): \(tensor.count) values clamped to ±65504")
        }
        if let multiple = summary.sizeMultiple {
            Console.note(
                "the network needs sizes that are multiples of \(multiple); the format cannot "
                    + "express this, so pass it no other sizes")
        }
        let kept = summary.keptInFloat32
        if !kept.isEmpty { Console.note("in float32: \(kept.joined(separator: ", "))") }
    }
}

/// The inputs and outputs of the package.
struct ExportInterfaceOptions: ParsableArguments {
    @Option(
        help: """
            The input: a multi-array of L (tensor), or a grayscale image (image); default: tensor.
            """)
    var input: ExportOptions.Input?

    @Option(help: "One output of both channels (ab), or one per channel (split); default: ab.")
    var output: ExportOptions.Output?

    @Option(
        help: """
            The elements of arrays that go in and out: float32, float16 (from iOS16 on), or int8 \
            (from iOS26 on), for L, a and b rounded to integers; default: float32.
            """)
    var elementType: ExportOptions.ElementType?

    @Option(
        help: """
            Where values are normalized: in the model, with L in 0…100 and a and b in −110…110 \
            (inside), or by the caller, with (L − 50)/100, a/110 and b/110 (outside); \
            default: inside.
            """)
    var normalization: ExportOptions.Normalization?

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

    /// The names of the options that were given.
    var given: [String] {
        RetintCLI.given([
            "--input": input != nil, "--output": output != nil,
            "--element-type": elementType != nil, "--normalization": normalization != nil,
            "--image-scale": imageScale != nil,
            "--image-bias": imageBias != nil,
        ])
    }

    func apply(to options: inout ExportOptions) {
        (options.input, options.output) = (input ?? .tensor, output ?? .ab)
        options.elementType = elementType ?? .float32
        options.normalization = normalization ?? .inside
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

    /// The names of the options that were given.
    var given: [String] {
        RetintCLI.given([
            "--author": !author.isEmpty, "--license": !license.isEmpty,
            "--model-version": !modelVersion.isEmpty,
        ])
    }

    func apply(to options: inout ExportOptions) {
        (options.author, options.license) = (author, license)
        options.version = modelVersion
    }
}

extension ExportOptions.Target: ExpressibleByArgument {}
extension ExportOptions.ElementType: ExpressibleByArgument {}
extension ExportOptions.Input: ExpressibleByArgument {}
extension ExportOptions.Output: ExpressibleByArgument {}
extension ExportOptions.Normalization: ExpressibleByArgument {}
