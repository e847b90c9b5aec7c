import ArgumentParser
import Retint

struct CombineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "combine",
        abstract: "Combine packages into one with several functions that share equal weights.",
        discussion: """
            For a network at several sizes, or for several heads on one encoder. The packages must \
            be exported for the same target, iOS18 or later. An app loads a function by its \
            name; retint's commands take OUT.mlpackage#NAME, or the default function if no name is \
            given.
            """)

    /// A function's name with the package that it comes from.
    struct Function: ExpressibleByArgument {
        let name: String
        let package: String

        init?(argument: String) {
            guard let mark = argument.firstIndex(of: "="), mark != argument.startIndex else {
                return nil
            }
            name = String(argument[..<mark])
            package = String(argument[argument.index(after: mark)...])
        }
    }

    @Argument(
        help: ArgumentHelp(
            "Functions, as NAME=PACKAGE, two or more; the first is the default.",
            valueName: "name=package"), completion: .package)
    var functions: [Function]

    @Option(
        name: [.customShort("o"), .customLong("output"), .customLong("package")],
        help: "The package to write.",
        completion: .package)
    var package: String

    func run() throws {
        let claim = try OutputClaim(package, inputs: functions.map(\.package))
        defer { claim.end() }
        let parts = try functions.map { ($0.name, try ModelFormat.package(at: $0.package)) }
        try MultifunctionPackage(parts).write(to: package)
        let names = functions.map(\.name).joined(separator: ", ")
        Console.print(
            "\(package): functions \(names) for \(parts[0].1.target.rawValue), "
                + Format.bytes(try claim.byteCount))
    }
}
