import Foundation
import RetintTestSupport
import Testing

@testable import RetintMLPackage

/// The packages and values that another implementation wrote.
enum Goldens {
    static let names = [
        "float32-iOS15", "float16-iOS15", "image-iOS16", "int8-iOS16", "int4-iOS18", "int8-iOS26",
    ]

    static func path(_ name: String) -> String { goldenPath("\(name).mlpackage") }
}

/// The files of a package.
enum Part {
    static let manifest = "Manifest.json"
    static let model = "Data/com.apple.CoreML/model.mlmodel"
    static let weights = "Data/com.apple.CoreML/weights/weight.bin"
    static let all = [manifest, model, weights]
}

func contents(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}

func replace(_ path: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
}

/// A package as far as a reader can know it: with its elements in memory.
func loaded(_ package: MLPackage) throws -> MLPackage {
    var result = package
    for index in package.program.operations.indices {
        let operation = package.program.operations[index]
        result.program.operations[index].attributes = try operation.attributes.mapValues {
            try $0.loaded()
        }
        result.program.operations[index].inputs = try operation.inputs.mapValues {
            try $0.map { argument in
                guard case .value(let value) = argument else { return argument }
                return .value(try value.loaded())
            }
        }
    }
    return result
}

/// The error that a piece of work ends with.
func error(_ body: () throws(MLPackageError) -> Void) -> MLPackageError? {
    do throws(MLPackageError) {
        try body()
        return nil
    } catch {
        return error
    }
}
