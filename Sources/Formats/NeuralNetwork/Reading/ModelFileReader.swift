import RetintCoreMLProto
import RetintFiles
import RetintMIL
import RetintMLPackage
import SwiftProtobuf
import SystemPackage

/// Reads a `.mlmodel` file.
enum ModelFileReader {
    static let remedy = "The file is damaged or uses an unsupported feature."

    /// No protocol buffer is larger.
    private static let maximumBytes = Int(Int32.max)
    private static let versions: ClosedRange<Int32> = 1...10

    static func read(_ path: FilePath) throws -> MLPackage {
        try MLPackage.requireNeuralNetwork(at: path)
        let bytes = try RegularFile(path).contents(maximumBytes: maximumBytes)
        try StructureScan.check(bytes)
        let model = try parse(bytes)
        guard versions.contains(model.specificationVersion) else {
            throw MLPackageError(
                file: "", place: "",
                rule: "specification version \(model.specificationVersion) is not supported",
                remedy: "Convert the network again to an .mlpackage for iOS15 or later.")
        }
        guard !model.isUpdatable else {
            throw MLPackageError(
                file: "", place: "", rule: "models that train on the device are not supported",
                remedy: "Convert the network again without updatable layers.")
        }
        var conversion = try NetworkConversion(model)
        return try conversion.package()
    }

    private static func parse(_ bytes: [UInt8]) throws -> ProtoModel {
        do {
            var options = BinaryDecodingOptions()
            options.discardUnknownFields = true
            return try ProtoModel(serializedBytes: bytes, options: options)
        } catch {
            throw MLPackageError(
                file: "", place: "", rule: "it is not a Core ML model (\(error))",
                remedy: "The file is damaged or incomplete: copy or convert it again.")
        }
    }
}
