@testable import RetintFiles
@testable import RetintMLPackage
@testable import RetintRuntime

/// Packages that are valid but absurd: written, read, compiled and run.
struct ProgramTarget: FuzzTarget {
    let name = "program"

    func seeds() -> [[UInt8]] {
        (0..<32).map { seed in
            (0..<64).map { UInt8(truncatingIfNeeded: ($0 + 1) * (seed * 37 + 11)) }
        }
    }

    func run(_ input: [UInt8]) throws {
        guard let package = try ProgramBuilding.package(input) else { return }
        let path = WorkFolder.path("program.mlpackage")
        try PackageWriter.write(package, to: path.filePath)
        let model = Model(try MLPackage(contentsOf: path))
        for observes in [false, true] { try ProgramRun.run(model, observes: observes) }
    }
}
