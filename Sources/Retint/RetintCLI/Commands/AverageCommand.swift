import ArgumentParser
import Retint

struct AverageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "average",
        abstract: "Average the weights of several checkpoints of one network.",
        discussion: """
            The mean of runs that started from the same weights, with different seeds or settings, \
            is often better than each of them and costs no more to run (a model soup).
            """)

    @Argument(
        help: "Checkpoints, two or more.", completion: .checkpoint,
        transform: modelPath)
    var checkpoints: [String]

    @Option(name: .shortAndLong, help: "The checkpoint to write.", completion: .checkpoint)
    var output: String

    func validate() throws {
        guard checkpoints.count > 1 else {
            throw ValidationError("there is nothing to average; give two checkpoints or more")
        }
    }

    func run() throws {
        let claim = try OutputClaim(output, inputs: checkpoints)
        defer { claim.end() }
        let average = try Checkpoint.average(
            checkpoints.map { ($0, try Checkpoint(contentsOf: $0)) })
        try average.write(to: output)
        Console.print(
            "\(output): \(average.network.architecture), mean of \(checkpoints.count) checkpoints")
    }
}
