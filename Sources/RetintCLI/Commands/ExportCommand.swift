import ArgumentParser
import Checkpoints
import Conversion
import Files

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a checkpoint as a Core ML package.",
        discussion: """
            The package takes L as `input` and gives a and b as `ab`, or as `output_a` and \
            `output_b`. The same checkpoint and options give the same bytes. Prove the package \
            with `retint verify OUT.mlpackage --against CHECKPOINT`.
            """)

    @Argument(help: "The checkpoint.")
    var checkpoint: String

    @Option(
        name: [.customShort("o"), .customLong("package")],
        help: "The package to write; its name ends in .mlpackage.")
    var package: String

    @Option(help: "The arithmetic and the weights of the whole program: float32 or float16.")
    var precision = ExportOptions.Precision.float32

    @Option(help: "The oldest system that the package runs on: iOS15, iOS16, iOS17 or iOS18.")
    var target = ExportOptions.Target.iOS15

    @Option(help: "A multi-array of L (tensor), or a grayscale picture (image).")
    var input = ExportOptions.Input.tensor

    @Option(help: "One output of both channels (ab), or one for each (split).")
    var output = ExportOptions.Output.ab

    @Option(help: "The side of the square that the model takes, in pixels.")
    var size = 256

    @Option(help: "Who made the model, for the package's metadata.")
    var author = ""

    @Option(help: "Under which license, for the package's metadata.")
    var license = ""

    func validate() throws {
        guard package.hasSuffix(".mlpackage") else {
            throw ValidationError(
                "\(package): Core ML knows a package by its name; let it end in .mlpackage")
        }
    }

    func run() throws {
        var options = ExportOptions(
            precision: precision, target: target, input: input, output: output, size: size)
        (options.author, options.license) = (author, license)
        let summary = try exportPackage(
            try Checkpoint(contentsOf: checkpoint), to: package, options: options)
        Console.print(
            "\(package): \(precision.rawValue), \(target.rawValue), "
                + "\(summary.operationCount) operations, "
                + "\(Format.grouped(summary.weightCount)) weights")
    }
}

extension ExportOptions.Precision: ExpressibleByArgument {}
extension ExportOptions.Target: ExpressibleByArgument {}
extension ExportOptions.Input: ExpressibleByArgument {}
extension ExportOptions.Output: ExpressibleByArgument {}
