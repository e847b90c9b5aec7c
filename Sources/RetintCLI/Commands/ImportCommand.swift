import ArgumentParser
import Retint

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a checkpoint of PyTorch weights in an HDF5 or a safetensors file.",
        discussion: """
            The file holds a state dict: one tensor for each dotted key. It must hold just the \
            tensors of the architecture, else the differences are listed and nothing is written.
            A checkpoint says what it is: without --architecture, another one is made of it, its \
            options but for those that are given, such as another saturation.
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
        let (name, options) = try architecture.choice(for: weights)
        let (checkpoint, report) = try Checkpoint.importing(
            weights: weights, architecture: name, options: options.texts, isStrict: !isLenient)
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
            "The architecture: \(colorizerNames.joined(separator: ", ")). "
                + "A checkpoint's own, with its options, if not given.",
            valueName: "name"))
    var name: String?

    @Option(help: "A factor for the number of channels, 0.0625 to 4.")
    var width: Double?

    @Option(help: "A factor for the number of repeated blocks, 0.25 to 4.")
    var depth: Double?

    @Option(help: "One more factor for the channels of a lite network's decoder, 0.0625 to 4.")
    var decoderWidth: Double?

    @Option(
        help: "By what a classifying network divides its logits; its own choice if not given.")
    var temperature: Double?

    @Option(help: "A factor for a classifying network's a and b, 0 to 4.")
    var saturation: Double?

    @Flag(help: "Re-parameterised convolutions are folded already.")
    var folded = false

    @Flag(name: .customLong("no-class-head"), help: "SIGGRAPH17 without its class head.")
    var hasNoClassHead = false

    /// What was given; without an architecture, changes to what the checkpoint says of itself.
    func choice(for weights: String) throws -> (name: String, options: ColorizerOptions) {
        if let name { return (name, changed(ColorizerOptions())) }
        guard let held = try Checkpoint.network(of: weights) else {
            throw CommandError(
                .wrongUsage,
                "\(weights): is not a checkpoint, which would say what network it is of; name it: "
                    + "--architecture eccv16")
        }
        return (held.architecture, changed(try ColorizerOptions(held.options)))
    }

    private func changed(_ own: ColorizerOptions) -> ColorizerOptions {
        ColorizerOptions(
            width: width ?? own.width, depth: depth ?? own.depth,
            decoderWidth: decoderWidth ?? own.decoderWidth,
            hasClassHead: own.hasClassHead && !hasNoClassHead,
            temperature: temperature ?? own.temperature, saturation: saturation ?? own.saturation,
            isFolded: own.isFolded || folded)
    }
}

/// Throws if writing to `output` would destroy one of the inputs.
func refuseOverwriting(_ inputs: Set<FileIdentity>, with output: String) throws {
    guard let identity = FileIdentity(of: output), inputs.contains(identity) else { return }
    throw CommandError(
        .wrongUsage, "\(output): is the input itself; give another path to write to")
}
