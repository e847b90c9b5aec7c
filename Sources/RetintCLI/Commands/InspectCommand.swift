import ArgumentParser
import Retint

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Say what is in a file.",
        discussion: """
            A checkpoint: architecture, parameters and cost. A package: interface, operations and \
            weights; with --placement also which operations the Neural Engine is said to refuse. \
            Any other HDF5 or safetensors file: its tensors.
            """)

    @Argument(help: "A checkpoint, a package or another HDF5 or safetensors file.")
    var file: String

    @Flag(help: "Name the operations that rules keep off the Neural Engine; no measurement.")
    var placement = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        if try isDirectory(file) {
            let package = try MLPackage(contentsOf: file)
            try show(PackageInspection(package, path: file, withPlacement: placement))
        } else if placement {
            throw CommandError(
                .wrongUsage, "--placement goes with a package; export \(file) to one first")
        } else if Checkpoint.isCheckpoint(file) {
            try show(CheckpointInspection(Checkpoint(contentsOf: file), path: file))
        } else {
            try show(TensorFileInspection(path: file))
        }
    }

    private func show(_ inspection: some Inspection) throws {
        if json { return try Console.printJSON(inspection) }
        for line in inspection.lines { Console.print(line) }
    }
}

/// What is in a file, for people and for programs.
protocol Inspection: Encodable {
    var lines: [String] { get }
}
