import Foundation

@testable import RetintFiles
@testable import RetintMLPackage
@testable import RetintONNXWriting
@testable import RetintRuntime

/// Any bytes as an ONNX file, with those of its external data.
struct ONNXTarget: PartsTarget {
    let name = "onnx"
    let partCount = 2
    private static let data = "external.onnx.data"

    func seeds() throws -> [[UInt8]] {
        let whole = Goldens.files(of: "ArchitecturesTests", endingIn: ".onnx").map {
            Parts([WorkFolder.read($0), []]).bytes
        }
        let programs = ProgramTarget().seeds().compactMap { try? ProgramBuilding.package($0) }
        let path = WorkFolder.path("external.onnx")
        return try whole
            + programs.compactMap { try? ONNXNetwork($0) }.prefix(12).map { network in
                try network.write(to: path, externalData: true)
                return Parts([path, WorkFolder.path(Self.data)].map(WorkFolder.read)).bytes
            }
    }

    func run(_ input: [UInt8]) throws {
        let parts = Parts(input, count: 2).files
        WorkFolder.write(parts[1], to: Self.data)
        let path = WorkFolder.write(parts[0], to: "model.onnx")
        try ProgramRun.run(Model(contentsOf: path, form: .file), observes: false)
    }
}

/// Any bytes as the program and the metadata of an `.aimodel`, with the right hash.
struct AIModelTarget: PartsTarget {
    let name = "aimodel"
    var partCount: Int { Self.paths.count }

    private static let paths = ["metadata.json", "main.mlirb"]

    func seeds() throws -> [[UInt8]] {
        Goldens.files(of: "AIModelTests", endingIn: ".aimodel").map { path in
            Parts(Self.paths.map { WorkFolder.read("\(path)/\($0)") }).bytes
        }
    }

    func run(_ input: [UInt8]) throws {
        let path = WorkFolder.path("raw.aimodel")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let files = Parts(input, count: Self.paths.count).files
        for (name, file) in zip(Self.paths, files) {
            WorkFolder.write(file, to: "raw.aimodel/\(name)")
        }
        var hash = ContentHash()
        hash.update(files[1])
        WorkFolder.write(hash.digest, to: "raw.aimodel/main.hash")
        try ProgramRun.run(Model(contentsOf: path), observes: false)
    }
}

/// Any bytes as an `.mlmodel` of layers.
struct MLModelTarget: FuzzTarget {
    let name = "mlmodel"

    func seeds() throws -> [[UInt8]] {
        Goldens.files(of: "NeuralNetworkTests", endingIn: ".mlmodel").map(WorkFolder.read)
    }

    func run(_ input: [UInt8]) throws {
        let path = WorkFolder.write(input, to: "raw.mlmodel")
        try ProgramRun.run(Model(contentsOf: path), observes: false)
    }
}
