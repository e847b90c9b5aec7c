import ArgumentParser
import Retint

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a checkpoint from PyTorch, safetensors or HDF5 weights.",
        discussion: """
            The file holds a state dict: one tensor for each dotted key. It must hold exactly the \
            tensors of the architecture, else the differences are listed and nothing is written.
            Files of torch.save (.pth, .pt, .bin) are read without Python, and nothing in them is \
            executed.
            A checkpoint can be imported without --architecture: the result has its architecture \
            and options, except for those that are given, such as another saturation.
            """)

    @Argument(help: "The file of weights: .pth, .safetensors or .h5.", completion: .weights)
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
        let (name, options) = try architecture.choice(for: weights)
        let (checkpoint, report) = try Checkpoint.importing(
            weights: weights, architecture: name, options: options.texts, key: stateDict.key,
            isStrict: !isLenient)
        if !report.isStrict { Console.warn("\(weights): \(report)") }
        let broken = checkpoint.nonFiniteTensors
        if let name = broken.first {
            Console.warn(
                "\(weights): NaN or infinite values in \(name)"
                    + (broken.count > 1 ? " and \(broken.count - 1) more tensors" : "")
                    + "; the network gives no colors")
        }
        try checkpoint.write(to: output)
        let parameters = StateSpec(of: try checkpoint.makeColorizer()).parameterCount
        Console.print(
            "\(output): \(checkpoint.architecture), \(checkpoint.state.count) tensors, "
                + "\(Format.grouped(parameters)) parameters")
    }
}

/// The state dict in a file that holds more.
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

    /// The architecture that was named with the options that were given; or, unnamed, those of the
    /// checkpoint at `weights`, changed by the options that were given.
    func choice(for weights: String) throws -> (name: String, options: ColorizerOptions) {
        if let name { return (name, flags.applied(to: ColorizerOptions())) }
        guard let network = try Checkpoint.network(of: weights) else {
            throw CommandError(
                .wrongUsage,
                "\(weights): is not a checkpoint, so its architecture must be named: "
                    + "--architecture eccv16")
        }
        let options = try ColorizerOptions(network.options)
        return (network.architecture, flags.applied(to: options))
    }
}
