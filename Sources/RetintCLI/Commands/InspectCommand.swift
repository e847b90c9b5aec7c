import ArgumentParser
import Retint

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what a file contains.",
        discussion: """
            Of a checkpoint: architecture, parameters and cost. Of a package: inputs, outputs, \
            operations and weights; with --placement also the operations that the Neural Engine \
            is said to refuse. Of any other HDF5 or safetensors file: its tensors.
            """)

    @Argument(help: "A checkpoint, a package, or another HDF5 or safetensors file.")
    var file: String

    @Flag(help: "Show which operations rules keep off the Neural Engine; not a measurement.")
    var placement = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        guard try !placement || isDirectory(file) else {
            throw CommandError(
                .wrongUsage, "--placement needs a package; export \(file) to one first")
        }
        let inspection = try inspect(file, placement: placement)
        if json { return try Console.printJSON(inspection) }
        for line in inspection.lines { Console.print(line) }
    }
}
