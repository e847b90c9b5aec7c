import ArgumentParser
import Retint

/// Whether values are made to fit float16.
struct ExportRepairOptions: ParsableArguments {
    @Flag(
        help: """
            Move powers of two between weights until the values on the photos of --calibrate fit \
            float16. In float32 no bit of the outputs changes, which is checked.
            """)
    var repair = false

    @Option(
        help: ArgumentHelp(
            "The photos for --repair: a folder or list (.txt).", valueName: "photos"),
        completion: .photos)
    var calibrate: String?

    @Option(
        help: .rare("The largest number of those photos to use, evenly spaced; default: 32."))
    var limit: Int?

    func validate() throws {
        guard repair == (calibrate != nil) else {
            throw ValidationError(
                repair
                    ? "--repair needs photos; name a folder with --calibrate"
                    : "--calibrate needs --repair")
        }
        guard limit == nil || repair else { throw ValidationError("--limit needs --repair") }
        guard limit ?? 1 >= 1 else { throw ValidationError("--limit: must be at least 1") }
    }

    /// The names of the options that were given.
    var given: [String] {
        RetintCLI.given([
            "--repair": repair, "--calibrate": calibrate != nil, "--limit": limit != nil,
        ])
    }

    /// The package, repaired if that was asked for; prints what was done.
    ///
    /// - Throws: ``CommandError`` if the package takes no photos; as
    ///   `MLPackage.repairingRange(on:execution:)`.
    func apply(
        to package: MLPackage, named name: String, range: ValueRange?
    ) throws -> MLPackage {
        guard let calibrate else { return package }
        let inputs = try calibrationInputs(
            calibrate, for: package, named: name, range: range, limit: limit ?? 32)
        let (repaired, report) = try naming(name) { try package.repairingRange(on: inputs) }
        for line in report.lines { Console.print(line) }
        return repaired
    }
}
