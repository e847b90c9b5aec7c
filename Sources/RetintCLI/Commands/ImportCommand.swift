import ArgumentParser
import Checkpoints
import Colorizers
import Files
import Layers
import TensorFiles

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a checkpoint of PyTorch weights in an HDF5 or a safetensors file.",
        discussion: """
            The file holds a state dict: one tensor for each dotted key. It must hold just the \
            tensors of the architecture, else the differences are listed and nothing is written.
            """)

    @Argument(help: "The HDF5 or safetensors file of weights.")
    var weights: String

    @OptionGroup var architecture: ArchitectureOptions

    @Flag(
        name: [.customLong("non-strict"), .customLong("allow-missing")],
        help: """
            Start missing and mis-shaped tensors from random values, and leave unexpected ones \
            out.
            """)
    var isLenient = false

    @Option(name: .shortAndLong, help: "The checkpoint to write.")
    var output: String

    func validate() throws {
        guard TensorFileFormat(extensionOf: output) != .safetensors else {
            throw ValidationError(
                "\(output): a checkpoint is an HDF5 file; let its name end in .h5")
        }
    }

    func run() throws {
        try refuseOverwriting(Set([weights].compactMap(FileIdentity.init(of:))), with: output)
        let (checkpoint, report) = try Checkpoint.importing(
            weights: weights, architecture: architecture.name, options: architecture.texts,
            isStrict: !isLenient)
        if !report.isStrict { Console.warn("\(weights): \(report)") }
        try checkpoint.write(to: output)
        let parameters = StateSpec(of: try checkpoint.makeColorizer()).parameterCount
        Console.print(
            "\(output): \(checkpoint.architecture), \(checkpoint.state.count) tensors, "
                + "\(Format.grouped(parameters)) parameters")
    }
}

/// Which architecture, with what chosen about it.
struct ArchitectureOptions: ParsableArguments {
    @Option(
        name: .customLong("architecture"),
        help: ArgumentHelp(
            "The architecture: \(colorizerNames.joined(separator: ", ")).", valueName: "name"))
    var name: String

    @Option(help: "A factor for the number of channels, 0.0625 to 4.")
    var width: Double?

    @Option(help: "A factor for the number of repeated blocks, 0.25 to 4.")
    var depth: Double?

    @Option(help: "One more factor for the channels of a lite network's decoder, 0.0625 to 4.")
    var decoderWidth: Double?

    @Option(
        help: "By what a classifying network divides its logits; its own choice if not given.")
    var temperature: Double?

    @Flag(help: "Re-parameterised convolutions are folded already.")
    var folded = false

    @Flag(name: .customLong("no-class-head"), help: "SIGGRAPH17 without its class head.")
    var hasNoClassHead = false

    /// As a checkpoint keeps them.
    var texts: [String: String] {
        ColorizerOptions(
            width: width ?? 1, depth: depth ?? 1, decoderWidth: decoderWidth ?? 1,
            hasClassHead: !hasNoClassHead, temperature: temperature, isFolded: folded
        ).texts
    }
}

/// Throws if writing to `output` would destroy one of the inputs.
func refuseOverwriting(_ inputs: Set<FileIdentity>, with output: String) throws {
    guard let identity = FileIdentity(of: output), inputs.contains(identity) else { return }
    throw CommandError(
        .wrongUsage, "\(output): is the input itself; give another path to write to")
}
