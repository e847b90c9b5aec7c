import ArgumentParser
import Foundation
import Retint

struct ModelsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models",
        abstract: "List the trained colorizers that come with retint.",
        discussion: """
            Their names stand for their files wherever a model is read: retint colorize \
            lite-class-unet photo.jpg -o colored.jpg.
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let found = ShippedCheckpoint.all
        guard !found.isEmpty else {
            throw CommandError(.failure, ShippedCheckpoint.absence)
        }
        if json { return try Console.printJSON(List(models: found.map(Row.init))) }
        for checkpoint in found {
            Console.print("\(checkpoint.name)  (\(checkpoint.path))")
            if let summary = checkpoint.summary { Console.print("    \(summary)") }
        }
    }

    private struct List: Encodable {
        let models: [Row]
    }

    private struct Row: Encodable {
        let name, path: String
        let summary: String?

        init(_ checkpoint: ShippedCheckpoint) {
            (name, path) = (checkpoint.name, checkpoint.path)
            summary = checkpoint.summary
        }
    }
}

extension ShippedCheckpoint {
    /// What to say if there are none.
    static let absence =
        "there are no trained colorizers next to the program; install the package "
        + "retint-checkpoints, or name their folder in the environment variable \(variable)"
}
