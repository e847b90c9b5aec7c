import ArgumentParser
import Retint
import RetintNetworks

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Create a checkpoint from PyTorch weights or an ONNX network.",
        discussion: """
            A weights file (\(ModelFormat.usualExtensions(.weights))) contains a state dict: one \
            tensor for each dotted key. It must contain exactly the tensors of the \
            architecture, of which only num_batches_tracked may be missing; otherwise the \
            differences are listed and nothing is written.
            torch.save files (\(ModelFormat(.pytorch).dottedExtensions.joined(separator: ", "))) \
            are read without Python, and nothing in them is executed.
            A checkpoint can be imported without --architecture: the result has its architecture \
            and options, except for options that you set, such as another saturation.
            An .onnx file contains a network with its weights, and needs no architecture. It takes \
            lightness, or three equal channels of a gray photo, and returns the colors a and b, or \
            a whole photo; --input, --range, --colors and --color-range state what the file does \
            not. All commands take the checkpoint, which converts from L and to a and b itself, \
            and can be trained.

            For example:
              retint import ddcolor.onnx -o ddcolor.h5
            """)

    @Argument(
        help: """
            The weights file: \(ModelFormat.usualExtensions(.weights)); or a network: \
            \(ModelFormat.usualExtensions(.graphs)).
            """,
        completion: .files(for: .importing), transform: modelPath)
    var weights: String

    @OptionGroup var architecture: ArchitectureChoice

    @Flag(
        name: [.customLong("non-strict"), .customLong("allow-missing")],
        help: """
            Initialize missing and mis-shaped tensors randomly, and ignore unexpected ones.
            """)
    var isLenient = false

    @OptionGroup var stateDict: StateDictChoice
    @OptionGroup var onnx: ONNXImportOptions

    @Option(
        help: """
            The type in which the checkpoint stores weights: float32, or float16 for half the size.
            """)
    var precision = ExportOptions.Precision.float32

    @Option(name: .shortAndLong, help: "The checkpoint to write.", completion: .checkpoint)
    var output: String

    func validate() throws {
        let isNamed = output.filePath.extension != nil
        guard !isNamed || ModelFormat.checkpoint.isExtension(of: output) else {
            throw ValidationError(
                "\(output): a checkpoint is an HDF5 file; its name must end in .h5")
        }
    }

    func run() throws {
        let claim = try OutputClaim(output, inputs: [weights])
        defer { claim.end() }
        let checkpoint =
            try ModelFormat(ofNetworkAt: weights).isFor(.graphs)
            ? importedNetwork() : importedWeights()
        checkpoint.warnOfNonFinite(weights)
        try checkpoint.write(to: output, as: precision.storedType)
        let parameters = StateSpec(of: try checkpoint.network.make()).parameterCount
        Console.print(
            "\(output): \(checkpoint.network.architecture), \(checkpoint.state.count) tensors, "
                + "\(Format.grouped(parameters)) parameters")
    }

    private func importedNetwork() throws -> Checkpoint {
        try architecture.refuse(for: weights)
        guard !isLenient, stateDict.key == nil else {
            throw CommandError(
                .usage,
                "\(weights): is a network, not a state dict; omit --non-strict and --key")
        }
        let (checkpoint, notes) = try onnx.checkpoint(weights)
        for note in notes + [trialNote(checkpoint)].compactMap(\.self) {
            Console.note("\(weights): \(note)")
        }
        return checkpoint
    }

    /// A network that cannot be tried, perhaps because it needs too much memory, is imported
    /// nevertheless.
    private func trialNote(_ checkpoint: Checkpoint) -> String? {
        do {
            return try checkpoint.rangeNote()
        } catch {
            return "its ranges were not tried: \(error)"
        }
    }

    private func importedWeights() throws -> Checkpoint {
        try onnx.refuse(for: weights)
        if architecture.name == nil, let copy = try importedCopy() { return copy }
        let (checkpoint, report) = try Checkpoint.importing(
            weights: weights, of: architecture.network(for: weights, key: stateDict.key),
            key: stateDict.key,
            isStrict: !isLenient)
        if !report.isStrict { Console.warn("\(weights): \(report)") }
        return checkpoint
    }
}

extension ImportCommand {
    /// The network of a checkpoint that was itself imported from a file; nil for any other.
    private func importedCopy() throws -> Checkpoint? {
        guard let source = try? CheckpointSource(contentsOf: weights),
            source.network.definition != nil
        else { return nil }
        try architecture.flags.refuse(for: weights)
        var copy = try source.checkpoint()
        (copy.optimizer, copy.training) = (StateDict(), nil)
        return copy
    }
}

extension ExportOptions.Precision {
    fileprivate var storedType: StoredType { self == .float16 ? .float16 : .float32 }
}

extension Checkpoint {
    fileprivate func warnOfNonFinite(_ file: String) {
        let broken = nonFiniteTensors
        guard let name = broken.first else { return }
        Console.warn(
            "\(file): NaN or infinite values in \(name)"
                + (broken.count > 1 ? " and \(broken.count - 1) more tensors" : "")
                + "; the network would not produce colors")
    }
}

/// How a network is read from an ONNX file.
struct ONNXImportOptions: ParsableArguments {
    @Option(
        help: """
            For an .onnx file: whether it takes L in 0 to 100 and returns a and b in -110 to 110 \
            (inside), or takes (L - 50)/100 and returns a/110 and b/110 (outside). Default: as \
            stated in the file, or else inside.
            """)
    var normalization: LabScaling.Normalization?

    @Option(
        help: """
            For an .onnx file: what goes in. Default: as stated in the file, or else gray-rgb if \
            it takes three channels.
            """)
    var input: ColorForm.Input?

    @Option(
        help: ArgumentHelp(
            """
            The range of what goes in: 0..1, 0..255, -1..1, imagenet, or other bounds, for black \
            and white; default: 0..100 for lightness, 0..1 for gray-rgb.
            """, valueName: "range"))
    var range: ValueRange?

    @Option(
        help: """
            For an .onnx file: what comes out. Default: as stated in the file, or else what its \
            number of channels fits.
            """)
    var colors: ColorForm.Colors?

    @Option(
        help: ArgumentHelp(
            """
            The range of what comes out: the values that stand for -110 and 110 of a and b, \
            default -110..110; or for black and white of a photo, default 0..1.
            """, valueName: "range"))
    var colorRange: ValueRange?

    @Option(
        help: ArgumentHelp(
            "For an .onnx file: the output with the colors, or the outputs for a and b, if they "
                + "cannot be found by their shapes.", valueName: "name,…"))
    var outputs: String?

    func checkpoint(_ file: String) throws -> (checkpoint: Checkpoint, notes: [String]) {
        let names = (outputs ?? "").split(separator: ",").map(String.init)
        return try Checkpoint.importing(onnx: file, form: try form(for: file), outputs: names)
    }

    /// The form, as far as the options state it.
    private func form(for file: String) throws -> ColorFormChoice {
        var choice = ColorFormChoice()
        (choice.input, choice.inputRange) = (input, range)
        (choice.colors, choice.colorRange) = (colors, colorRange)
        guard let normalization else {
            guard colorRange != .imageNet else {
                throw CommandError(.usage, "--color-range: imagenet is a range of what goes in")
            }
            return choice
        }
        guard choice == ColorFormChoice() else {
            throw CommandError(
                .usage,
                "--normalization states all ranges; omit --input, --range, --colors and "
                    + "--color-range")
        }
        return ColorFormChoice(ColorForm(normalization))
    }

    /// Throws a usage error if options were given.
    func refuse(for file: String) throws {
        let options = given([
            "--normalization": normalization != nil, "--outputs": outputs != nil,
            "--input": input != nil, "--range": range != nil, "--colors": colors != nil,
            "--color-range": colorRange != nil,
        ])
        guard let option = options.first else { return }
        throw CommandError(.usage, "\(file): is not an .onnx file, which \(option) requires")
    }
}

extension ColorForm.Input: ExpressibleByArgument {}
extension ColorForm.Colors: ExpressibleByArgument {}

/// The state dict in a file that contains several.
struct StateDictChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The key of the weights in a PyTorch file with weights of several networks, or the "
                + "prefix of their names, such as params_ema.",
            valueName: "key"))
    var key: String?
}

/// An architecture and its options.
struct ArchitectureChoice: ParsableArguments {
    @Option(
        name: .customLong("architecture"),
        help: ArgumentHelp(
            "The architecture: \(colorizerNames.joined(separator: ", ")). "
                + "Default: that of the checkpoint, with its options.",
            valueName: "name"), completion: .architecture)
    var name: String?

    @OptionGroup var flags: ArchitectureFlags

    /// Throws a usage error if an architecture or options were given, because a file has its own.
    func refuse(for file: String) throws {
        if name != nil {
            throw CommandError(
                .usage, "\(file): is a complete network; omit --architecture")
        }
        try flags.refuse(for: file)
    }

    /// The architecture that was named with the options that were given; or, unnamed, those of the
    /// checkpoint at `weights`, changed by the options that were given, or the one whose tensors
    /// the file has.
    func network(for weights: String, key: String?) throws -> NetworkDescription {
        if let name { return flags.applied(to: .named(name)) }
        if let network = try Checkpoint.network(of: weights) { return flags.applied(to: network) }
        let networks = colorizerNames.map { flags.applied(to: .named($0)) }
        guard
            let network = try Checkpoint.network(fitting: weights, among: networks, key: key)
        else {
            throw CommandError(
                .usage,
                """
                \(weights): is not a checkpoint, and its tensors are not those of any network \
                with these options.
                  name the network and its options: --architecture NAME, one of
                  \(colorizerNames.joined(separator: ", "));
                  or for a network of your own, write an ONNX file:
                  torch.onnx.export(network.eval(), x, "network.onnx")
                  retint export network.onnx -o network.mlpackage
                  and for training, a checkpoint of a colorizer:
                  torch.onnx.export(network.eval(), x, "network.onnx", dynamo=False, training=
                      torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
                  retint import network.onnx -o network.h5
                """)
        }
        Console.note("\(weights): its tensors are those of \(network.architecture)")
        return network
    }
}
