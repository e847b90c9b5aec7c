import Foundation

@testable import RetintFiles
@testable import RetintMLPackage
@testable import RetintRuntime
@testable import RetintGraph

/// Any bytes as `Manifest.json`, `model.mlmodel` and `weight.bin` of a package.
struct PackageTarget: PartsTarget {
    let name = "package"
    var partCount: Int { Self.paths.count }

    private static let paths = [
        "Manifest.json", "Data/com.apple.CoreML/model.mlmodel",
        "Data/com.apple.CoreML/weights/weight.bin",
    ]

    func seeds() throws -> [[UInt8]] {
        let programs = ProgramTarget().seeds().compactMap { try? ProgramBuilding.package($0) }
        return try programs.prefix(12).map { package in
            let path = WorkFolder.path("seed.mlpackage")
            try PackageWriter.write(package, to: path.filePath)
            return Parts(Self.paths.map { WorkFolder.read("\(path)/\($0)") }).bytes
        }
    }

    func run(_ input: [UInt8]) throws {
        let folder = "raw.mlpackage"
        try FileManager.default.createDirectory(
            atPath: WorkFolder.path("\(folder)/Data/com.apple.CoreML/weights"),
            withIntermediateDirectories: true)
        for (path, file) in zip(Self.paths, Parts(input, count: Self.paths.count).files) {
            WorkFolder.write(file, to: "\(folder)/\(path)")
        }
        let package = try MLPackage(contentsOf: WorkFolder.path(folder))
        try ProgramRun.run(Model(package), observes: false)
    }
}
