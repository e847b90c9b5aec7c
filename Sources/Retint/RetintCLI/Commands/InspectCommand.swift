import ArgumentParser
import Retint

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the contents of a file, or the capabilities of the machine.",
        discussion: """
            For a checkpoint: architecture, parameters and cost. For an ONNX file: inputs, \
            outputs, operations and weights. For a package, a compiled one (.mlmodelc), a neural \
            network of Core ML (.mlmodel) or a Core AI model (.aimodel): inputs, outputs, \
            operations and weights; with --placement also the operations that the Neural Engine \
            is said to refuse. For any other PyTorch, safetensors or HDF5 file: its tensors. With \
            --system and no file: the processor, the kernels for it, the MPI that ranks use, and \
            the Python with Apple's Core AI runtime.

            For example:
              retint inspect Colorizer.mlpackage
              retint inspect --system
            """)

    @Argument(
        help: "A checkpoint, a package, a Core AI model, or another file of tensors.",
        completion: .inspectable, transform: modelPath)
    var file: String?

    @Flag(help: "Show what is found on this machine: processor, kernels, MPI, Core AI.")
    var system = false

    @Flag(help: "Show which operations rules exclude from the Neural Engine; not a measurement.")
    var placement = false

    @OptionGroup var stateDict: StateDictChoice

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if system, file != nil { throw ValidationError("--system takes no file") }
        if !system, file == nil { throw ValidationError("Missing expected argument '<file>'") }
    }

    func run() async throws {
        guard let file else { return try await describeSystem() }
        guard try !placement || ModelFormat(ofModelAt: file).isFor(.packages) else {
            throw CommandError(
                .usage, "--placement needs a package; export \(file) to one first")
        }
        let inspection = try Inspection(of: file, placement: placement, key: stateDict.key)
        if json { return try Console.printJSON(inspection) }
        for line in inspection.lines { Console.print(line) }
    }

    private func describeSystem() async throws {
        let inspection = await SystemInspection()
        if json { return try Console.printJSON(inspection) }
        for line in inspection.lines { Console.print(line) }
    }
}
