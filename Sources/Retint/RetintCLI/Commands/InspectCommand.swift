import ArgumentParser
import Retint

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what a file contains, or what the machine offers.",
        discussion: """
            Of a checkpoint: architecture, parameters and cost. Of an ONNX file: inputs, outputs, \
            operations and weights. Of a package or a Core AI model \
            (.aimodel): inputs, outputs, operations and weights; with --placement also the \
            operations that the Neural Engine is said to refuse. Of any other PyTorch, \
            safetensors or HDF5 file: its tensors. With --system, and no file: the processor, the \
            kernels for it, the MPI that ranks talk through, and the Python with Apple's Core AI \
            runtime.
            """)

    @Argument(
        help: "A checkpoint, a package, a Core AI model, or another file of tensors.",
        completion: .inspectable)
    var file: String?

    @Flag(help: "Show what is found on this machine: processor, kernels, MPI, Core AI.")
    var system = false

    @Flag(help: "Show which operations rules keep off the Neural Engine; not a measurement.")
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
        guard try !placement || MLPackage.isPackage(file) else {
            throw CommandError(
                .wrongUsage, "--placement needs a package; export \(file) to one first")
        }
        let inspection = try inspect(file, placement: placement, key: stateDict.key)
        if json { return try Console.printJSON(inspection) }
        for line in inspection.lines { Console.print(line) }
    }

    private func describeSystem() async throws {
        let inspection = await SystemInspection()
        if json { return try Console.printJSON(inspection) }
        for line in inspection.lines { Console.print(line) }
    }
}
