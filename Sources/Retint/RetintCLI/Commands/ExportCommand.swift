import ArgumentParser
import Retint

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Convert a model to Core ML, Core AI, ONNX or PyTorch weights.",
        discussion: """
            The extension of the output selects the format. A colorizer's input is L, named \
            `input`; its output is a and b, named `ab`, or `output_a` and `output_b`. Any other \
            network in an ONNX file keeps its own inputs and outputs, and so does a package, \
            which --precision, --target and the metadata convert. The same checkpoint \
            and options give the same bytes. Check a package with \
            `retint verify OUT.mlpackage --against CHECKPOINT`.

            Core AI and ONNX files can be written from a checkpoint or a package; a package keeps \
            its compressed weights. If the format does not have all operations of a package, \
            others take their place, and a line says so. The inputs of an .aimodel are tensors \
            of one size. Weights that ONNX cannot store compressed are listed. For .h5 and \
            .safetensors, the weights of a checkpoint or package are written as a state dict.

            For example:
              retint export best.h5 -o Colorizer.mlpackage
              retint export best.h5 -o colorizer.onnx
            """,
        aliases: ["convert"])

    @Argument(
        help: "A checkpoint, a package or an ONNX file.",
        completion: .model, transform: modelPath)
    var checkpoint: String

    @Option(
        name: [.customShort("o"), .customLong("output"), .customLong("package")],
        help: "What to write: \(ModelFormat.choice(.exporting)).",
        completion: .files(for: .exporting))
    var package: String

    @Option(
        help: """
            The oldest OS version that runs the package: iOS15, iOS16, iOS17, iOS18 or iOS26; \
            default: iOS15.
            """)
    var target: ExportOptions.Target?

    @OptionGroup(title: "Precision") var precision: ExportPrecisionOptions

    @OptionGroup(title: "Repair") var repair: ExportRepairOptions

    @OptionGroup(title: "Sizes") var sizes: ExportSizeOptions

    @OptionGroup(title: "Interface") var interface: ExportInterfaceOptions

    @Flag(
        name: .customLong("no-fold"),
        help: """
            Keep batch normalizations as operations, instead of folding those that follow a \
            convolution into its weights.
            """)
    var keepsBatchNorm = false

    @Flag(
        help: .rare(
            """
            For a package: replace operations that a device is known to compute incorrectly \
            (`retint inspect --placement`) by equivalents, where there are any.
            """))
    var avoidWrongNumbers = false

    @OptionGroup(title: "Metadata") var metadata: ExportMetadataOptions

    @OptionGroup(title: "ONNX") var onnx: ExportONNX

    @OptionGroup(title: "Weights") var weights: ExportWeights

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        try ModelFormat(ofExport: package).check(given)
        guard interface.range == nil || interface.input == .image || repair.repair else {
            throw ValidationError("--range needs --input image, or --repair for photos in a tensor")
        }
    }

    /// The names of the options that were given, by group.
    private var given: [ModelExportOption: [String]] {
        [
            .target: RetintCLI.given(["--target": target != nil]),
            .rewriting: RetintCLI.given(["--avoid-wrong-numbers": avoidWrongNumbers]),
            .precision: precision.given, .repair: repair.given,
            .sizes: sizes.given, .severalSizes: sizes.givenSeveral, .interface: interface.given,
            .folding: RetintCLI.given(["--no-fold": keepsBatchNorm]), .metadata: metadata.given,
            .opset: onnx.given, .foldedWeights: weights.given,
        ]
    }

    func run() throws {
        let claim = try OutputClaim(package, inputs: [checkpoint])
        defer { claim.end() }
        let format = try ModelFormat(ofExport: package)
        guard case .package(let write)? = format.writing else {
            return try weights.run(checkpoint, to: package)
        }
        let original = try ModelFormat(ofModelAt: checkpoint)
        let model = try opened(original)
        noteFunction(of: model)
        if let package = model.package, conversionOptions.isEmpty {
            return try rewrite(package, of: model, original, as: format, write)
        }
        guard !avoidWrongNumbers else {
            throw CommandError(
                .usage,
                model.package == nil
                    ? "\(checkpoint): is not a package; --avoid-wrong-numbers changes only packages"
                    : "--avoid-wrong-numbers changes a package, and cannot be combined with "
                        + conversionOptions[0])
        }
        try refuseOptions(of: model)
        try convert(model, to: format, write)
    }

    private func opened(_ format: ModelFormat) throws -> Model {
        let isOriginal = interface.isOriginal ?? format.isFor(.graphs)
        let model = try Model(contentsOf: checkpoint, form: isOriginal ? .file : .colorizer)
        guard model.package == nil else { return model }
        guard isOriginal else {
            // Says why the network is not a colorizer.
            if model.checkpoint == nil { _ = try Checkpoint(contentsOf: checkpoint) }
            return model
        }
        let original = interface.isOriginal == nil ? model : model.inOriginalForm
        guard original.checkpoint == nil else { return original }
        guard interface.input == .image else { return original }
        if interface.range == nil {
            Console.note(
                "the network is given the image's pixels as they are, 0…255; --range states "
                    + "another range in which it takes photos, such as 0..1 or imagenet")
        }
        return try original.takingImage(in: interface.range ?? .linear(lower: 0, upper: 255))
    }

    /// Writes the network of a checkpoint, or of a file with its own inputs and outputs.
    private func convert(
        _ original: Model, to format: ModelFormat, _ write: ModelFormat.PackageWriter
    ) throws {
        let source = try original.checkpoint.map { try ExportSource($0.checkpoint()) }
        var options = try options(for: source, original)
        let hasTarget = format.options.contains(.target)
        if hasTarget, target == nil, let standard = source?.standardTarget, standard != .iOS15 {
            Console.note(
                "the inputs of layers are rounded to 8 bits, as they were trained, which takes "
                    + "\(standard.rawValue); `retint quantize --weights int8` rounds the weights")
        }
        // The target with the most operations: what the format does not have is translated.
        if !hasTarget { options.target = .iOS26 }
        let (model, summary) = try naming(checkpoint) {
            try source?.package(options)
                ?? original.converted(options, sizes: !sizes.given.isEmpty, for: format)
        }
        report(summary)
        if source != nil {
            warnOfRange(of: original)
            try noteInterface(of: model, original)
        } else if original.package == nil, sizes.given.isEmpty {
            try noteOpenSizes(of: original, in: model)
        }
        let repaired = try repaired(model)
        let first = WrittenModel.Fact.text(precision(options, summary))
        let own = hasTarget ? facts(options, summary) : nil
        try show(written(repaired, as: format, write)) { [first] + (own ?? $0) }
    }

    /// Writes a package as it is, repaired, or with other forms of its operations.
    private func rewrite(
        _ package: MLPackage, of model: Model, _ original: ModelFormat, as format: ModelFormat,
        _ write: ModelFormat.PackageWriter
    ) throws {
        let isCopy = original == format && format.options.contains(.rewriting)
        guard avoidWrongNumbers || repair.repair || !isCopy else {
            throw CommandError(.usage, "\(checkpoint): is already a package. \(otherWays)")
        }
        let package = try repaired(package)
        guard avoidWrongNumbers else {
            return try show(written(package, as: format, write)) { $0 }
        }
        let (changed, replaced) = package.avoidingWrongNumbers()
        _ = try written(changed, as: format, write)
        let names = replaced.isEmpty ? "" : ": " + replaced.joined(separator: ", ")
        Console.print("\(self.package): \(replaced.count) operations replaced\(names)")
    }

    /// Says how the input of a network from another tool is named now, and its size.
    private func noteInterface(of package: MLPackage, _ original: Model) throws {
        let own = original.inOriginalForm
        guard own.checkpoint == nil else { return }
        func text(_ model: Model) throws -> String {
            try model.interface.inputs.map { "\($0.name) \(sizes(of: $0))" }
                .joined(separator: ", ")
        }
        let (new, old) = (try text(Model(package, name: self.package)), try text(own))
        guard new != old else { return }
        Console.note(
            "the input is \(new); --interface original keeps that of the network's file, \(old)")
    }

    /// Says which sizes were chosen for inputs whose file leaves them open.
    private func noteOpenSizes(of original: Model, in package: MLPackage) throws {
        let written = try Model(package, name: self.package).interface.inputs
        for (input, written) in zip(try original.interface.inputs, written) {
            let open = input.shapes.openAxes
            guard !open.isEmpty else { continue }
            let hint = "; --size, --sizes, or --min-size and --max-size state others"
            let isImage = input.shapes.standard.count == 4 && open.contains { $0 >= 2 }
            Console.note(
                "\(checkpoint) leaves sizes of \(input.name) open; it is written for "
                    + "\(sizes(of: written)) alone\(isImage ? hint : "")")
        }
    }

    /// The sizes of an input, `1×3×256×256`.
    private func sizes(of input: ModelInterface.Value) -> String {
        input.shapes.standard.map { $0.map(String.init) ?? "?" }.joined(separator: "×")
    }

    private func repaired(_ package: MLPackage) throws -> MLPackage {
        try repair.apply(to: package, named: checkpoint, range: interface.range)
    }

    private func written(
        _ model: MLPackage, as format: ModelFormat, _ write: ModelFormat.PackageWriter
    ) throws -> WrittenModel {
        let claim = try onnx.claim(package, inputs: [checkpoint])
        defer { claim?.end() }
        return try naming(checkpoint) {
            try model.write(as: format, write, to: package, named: checkpoint, onnx.options)
        }
    }

    /// Prints the files with what is to say about them.
    private func show(
        _ written: WrittenModel, facts: ([WrittenModel.Fact]) -> [WrittenModel.Fact]
    ) {
        for note in written.notes { Console.note(note) }
        let parts = facts(written.facts).map(\.description).joined(separator: ", ")
        Console.print("\(written.files.joined(separator: " and ")): \(parts)")
    }

    /// What is to say about a package of a network.
    private func facts(_ options: ExportOptions, _ summary: ExportSummary) -> [WrittenModel.Fact] {
        let kept = summary.keptInFloat32.count
        return [
            .text(options.target.rawValue), .text("\(summary.operationCount) operations"),
        ] + (kept == 0 ? [] : [.text("\(kept) of them in float32")])
            + [.count(summary.weightCount, of: "weights")]
    }

    /// The options that were given and convert a network.
    private var conversionOptions: [String] {
        let options = ModelExportOption.ofNetworks.union([.target])
        return ModelExportOption.allCases.filter(options.contains).flatMap { given[$0] ?? [] }
    }

    /// Refuses options that a model does not have.
    private func refuseOptions(of model: Model) throws {
        if let package = model.package {
            let isForeign = !package.isExportedColorizer
            let own = isForeign ? [] : conversionOptions.filter { !convertsOwn.contains($0) }
            guard let name = (own + sizes.given + interface.given).first else { return }
            throw CommandError(
                .usage,
                isForeign
                    ? "\(checkpoint): a package keeps its inputs and outputs; omit \(name)"
                    : "\(checkpoint): the interface and the sizes of a package stay, so \(name) "
                        + "has no effect. \(otherWays)")
        }
        guard model.checkpoint != nil else { return }
        guard interface.range == nil else {
            throw CommandError(
                .usage, "--range needs --interface original; state --image-scale and --image-bias")
        }
        guard interface.isOriginal != true else {
            throw CommandError(
                .usage, "\(checkpoint): is a network of retint, which has no other inputs")
        }
    }

    /// The options that change a package, whoever exported it.
    private var convertsOwn: [String] { (given[.target] ?? []) + (given[.precision] ?? []) }

    /// How to change a package.
    private var otherWays: String {
        """
        `retint quantize` makes its weights smaller. To change anything but precision and target, \
        export the checkpoint again, or recover its weights (retint export \(checkpoint) -o \
        weights.h5) and import them
        """
    }

    /// - Parameter source: nil for a model with its own inputs and outputs.
    private func options(
        for source: ExportSource?, _ original: Model
    ) throws -> ExportOptions {
        let standard = source?.standardTarget ?? .iOS15
        var options = ExportOptions(target: target ?? standard)
        if let package = original.package {
            options = try ExportOptions(keepingThoseOf: package)
            options.target = target ?? options.target
        }
        if let only = source?.colorizer.onlySize {
            (options.width, options.height) = (only.width, only.height)
        }
        if !sizes.given.isEmpty { sizes.apply(to: &options) }
        if original.package == nil { interface.apply(to: &options) }
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
                "it takes sizes that are multiples of \(multiple); the format cannot "
                    + "express this, so pass it no other sizes")
        }
        let kept = summary.keptInFloat32
        if !kept.isEmpty { Console.note("in float32: \(kept.joined(separator: ", "))") }
    }
}

/// The inputs and outputs of the package.
struct ExportInterfaceOptions: ParsableArguments {
    /// Whose inputs and outputs a package has.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case retint, original
    }

    @Option(
        help: """
            L in, a and b out (retint), or the inputs and outputs that the network's file has \
            (original); default: original for ONNX files that do not take L, and for packages, \
            else retint.
            """)
    var interface: Kind?

    @Option(
        help: """
            The input: a multi-array (tensor), or an image (image), grayscale for L; default: \
            tensor.
            """)
    var input: ExportOptions.Input?

    @Option(
        name: .customLong("output-form"),
        help: "One output of both channels (ab), or one per channel (split); default: ab.")
    var output: ExportOptions.Output?

    @Option(
        help: .rare(
            """
            The element type of input and output arrays: float32, float16 (iOS16 and later), or \
            int8 (iOS26 and later), for L, a and b rounded to integers; default: float32.
            """))
    var elementType: ExportOptions.ElementType?

    @Option(
        help: """
            Where values are normalized: in the model, with L in 0…100 and a and b in −110…110 \
            (inside), or by the caller, with (L − 50)/100, a/110 and b/110 (outside); \
            default: inside.
            """)
    var normalization: ExportOptions.Normalization?

    @Option(
        help: """
            With --interface original and --input image, the range in which the network takes \
            photos: 0..1, 0..255, -1..1 or imagenet. Pixels 0…255 are converted to it; default: \
            0..255.
            """)
    var range: ValueRange?

    @Option(
        help: .rare(
            """
            The scale of pixels, as in coremltools' ImageType; 1 if only a bias is given. \
            Without either, pixels 0…255 are L 0…100.
            """))
    var imageScale: Float?

    @Option(
        help: .rare("The bias of scaled pixels; 0 if only a scale is given."))
    var imageBias: Float?

    func validate() throws {
        guard input == .image || imageScale == nil && imageBias == nil else {
            throw ValidationError("--image-scale and --image-bias need --input image")
        }
        guard range == nil || imageScale == nil && imageBias == nil else {
            throw ValidationError("--range excludes --image-scale and --image-bias")
        }
    }

    /// Whether the package has the inputs and outputs of the file; nil if that is left open.
    var isOriginal: Bool? { interface.map { $0 == .original } }

    /// The names of the options that were given.
    var given: [String] {
        RetintCLI.given([
            "--interface": interface != nil, "--range": range != nil,
            "--input": input != nil, "--output-form": output != nil,
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
    @Option(help: .rare("The author in the package's metadata."))
    var author = ""

    @Option(help: .rare("The license in the package's metadata."))
    var license = ""

    @Option(help: .rare("The model version in the package's metadata."))
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

extension ExportOptions.ElementType: ExpressibleByArgument {}
extension ExportOptions.Input: ExpressibleByArgument {}
extension ExportOptions.Output: ExpressibleByArgument {}
extension ExportOptions.Normalization: ExpressibleByArgument {}
