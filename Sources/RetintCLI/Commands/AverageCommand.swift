import ArgumentParser
import Checkpoints
import Files

struct AverageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "average",
        abstract: "Average the weights of several trainings of one network.",
        discussion: """
            Trainings that began with the same weights, and went on with other seeds or settings, \
            are often better on the mean than each by itself, at the cost of one (a model soup).
            """)

    @Argument(help: "Checkpoints, two or more.")
    var checkpoints: [String]

    @Option(name: .shortAndLong, help: "The checkpoint to write.")
    var output: String

    func validate() throws {
        guard checkpoints.count > 1 else {
            throw ValidationError("there is nothing to average; give two checkpoints or more")
        }
    }

    func run() throws {
        try refuseOverwriting(
            Set(checkpoints.compactMap(FileIdentity.init(of:))), with: output)
        let average = try Checkpoint.average(
            checkpoints.map { ($0, try Checkpoint(contentsOf: $0)) })
        try average.write(to: output)
        Console.print("\(output): \(average.architecture), the mean of \(checkpoints.count)")
    }
}
