import ArgumentParser
import Retint

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a checkpoint from PyTorch weights, or from an ONNX network.",
        discussion: """
            A file of weights (.pth, .safetensors, .h5) holds a state dict: one tensor for each \
            dotted key. It must hold exactly the tensors of the architecture, else the differences \
            are listed and nothing is written.
            Files of torch.save (.pth, .pt, .bin) are read without Python, and nothing in them is \
            executed.
            A checkpoint can be imported without --architecture: the result has its architecture \
            and options, except for those that are given, such as another saturation.
            An .onnx file holds a network with its weights, and needs no architecture: it takes \
            one channel of lightness and gives the colors a and b. All commands take the \
            checkpoint, and it can be trained.
            """)

    @Argument(
        help: "The file of weights: .pth, .safetensors or .h5; or a network: .onnx.",
        completion: .importable)
    var weights: String

    @OptionGroup var architecture: ArchitectureChoice

    @Flag(
        name: [.customLong("non-strict"), .customLong("allow-missing")],
        help: """
            Initialize missing tensors and those of other shapes randomly, and ignore unexpected \
            ones.
            """)
    var isLenient = false

    @OptionGroup var stateDict: StateDictChoice
    @OptionGroup var onnx: ONNXImportOptions

    @Option(name: .shortAndLong, help: "The checkpoint to write.", completion: .checkpoint)
    var output: String

    func validate() throws {
        guard TensorFileFormat(extensionOf: output) ?? .hdf5 == .hdf5 else {
            throw ValidationError(
                "\(output): a checkpoint is an HDF5 file; use a name that ends in .h5")
        }
    }

    func run() throws {
        let claim = try claimOutput(output, inputs: [weights])
        defer { claim.end() }
        let checkpoint = try Checkpoint.isONNX(weights) ? importedNetwork() : importedWeights()
        checkpoint.warnOfNonFinite(weights)
        try checkpoint.write(to: output)
        let parameters = StateSpec(of: try checkpoint.network.make()).parameterCount
        Console.print(
            "\(output): \(checkpoint.network.architecture), \(checkpoint.state.count) tensors, "
                + "\(Format.grouped(parameters)) parameters")
    }

    private func importedNetwork() throws -> Checkpoint {
        try architecture.refuse(for: weights)
        guard !isLenient, stateDict.key == nil else {
            throw CommandError(
                .wrongUsage,
                "\(weights): is a network, not a state dict; leave out --non-strict and --key")
        }
        let (checkpoint, notes) = try onnx.checkpoint(weights)
        for note in notes { Console.note("\(weights): \(note)") }
        return checkpoint
    }

    private func importedWeights() throws -> Checkpoint {
        try onnx.refuse(for: weights)
        let (checkpoint, report) = try Checkpoint.importing(
            weights: weights, of: architecture.network(for: weights), key: stateDict.key,
            isStrict: !isLenient)
        if !report.isStrict { Console.warn("\(weights): \(report)") }
        return checkpoint
    }
}

extension Checkpoint {
    fileprivate func warnOfNonFinite(_ file: String) {
        let broken = nonFiniteTensors
        guard let name = broken.first else { return }
        Console.warn(
            "\(file): NaN or infinite values in \(name)"
                + (broken.count > 1 ? " and \(broken.count - 1) more tensors" : "")
                + "; the network gives no colors")
    }
}

/// How a network is read from an ONNX file.
struct ONNXImportOptions: ParsableArguments {
    @Option(
        help: """
            Of an .onnx file: whether it takes L in 0 to 100 and gives a and b in -110 to 110 \
            (inside), or takes (L - 50)/100 and gives a/110 and b/110 (outside). By default what \
            the file states, else inside.
            """)
    var normalization: LabScaling.Normalization?

    @Option(
        help: ArgumentHelp(
            "Of an .onnx file: the output that is the colors, or those for a and b, where they "
                + "cannot be found by their shapes.", valueName: "name,…"))
    var outputs: String?

    func checkpoint(_ file: String) throws -> (checkpoint: Checkpoint, notes: [String]) {
        let names = (outputs ?? "").split(separator: ",").map(String.init)
        return try Checkpoint.importing(onnx: file, normalization: normalization, outputs: names)
    }

    /// Throws a usage error if options were given.
    func refuse(for file: String) throws {
        let options = given(["--normalization": normalization != nil, "--outputs": outputs != nil])
        guard let option = options.first else { return }
        throw CommandError(.wrongUsage, "\(file): is no .onnx file, which \(option) is for")
    }
}

/// The state dict in a file that contains several.
struct StateDictChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The key of the weights in a PyTorch file that holds those of several networks, such "
                + "as params_ema.",
            valueName: "key"))
    var key: String?
}

/// An architecture and its options.
struct ArchitectureChoice: ParsableArguments {
    @Option(
        name: .customLong("architecture"),
        help: ArgumentHelp(
            "The architecture: \(colorizerNames.joined(separator: ", ")). "
                + "If not given, a checkpoint's own, with its options.",
            valueName: "name"), completion: .architecture)
    var name: String?

    @OptionGroup var flags: ArchitectureFlags

    /// Throws a usage error if an architecture or options were given, because a file has its own.
    func refuse(for file: String) throws {
        if name != nil {
            throw CommandError(
                .wrongUsage, "\(file): is a network of its own; leave out --architecture")
        }
        try flags.refuse(for: file)
    }

    /// The architecture that was named with the options that were given; or, unnamed, those of the
    /// checkpoint at `weights`, changed by the options that were given.
    func network(for weights: String) throws -> NetworkDescription {
        if let name { return flags.applied(to: .named(name)) }
        guard let network = try Checkpoint.network(of: weights) else {
            throw CommandError(
                .wrongUsage,
                "\(weights): is not a checkpoint, so its architecture must be named: "
                    + "--architecture eccv16")
        }
        return flags.applied(to: network)
    }
}
