import Foundation
import RetintCoreMLProto
import RetintMIL
import RetintMLPackage
import RetintNeuralNetwork
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import SwiftProtobuf
import Testing

/// Inputs and outputs of neural networks: sizes that vary, preprocessing, stated shapes.
@Suite struct InterfaceTests {
    private let scratch: TemporaryFolder

    init() throws {
        scratch = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: scratch.path(""), withIntermediateDirectories: true)
    }

    /// A recorded network with a change.
    private func package(
        _ name: String, _ change: (inout ProtoModel) -> Void
    ) throws -> MLPackage {
        let bytes = try Data(contentsOf: URL(filePath: goldenPath("\(name).mlmodel")))
        var model = try ProtoModel(serializedBytes: bytes)
        change(&model)
        let path = scratch.path("\(name).mlmodel")
        try model.serializedData().write(to: URL(filePath: path))
        return try MLPackage(contentsOfMLModel: path)
    }

    private static func range(_ lower: UInt64, _ upper: Int64) -> ProtoSizeRange {
        var range = ProtoSizeRange()
        (range.lowerBound, range.upperBound) = (lower, upper)
        return range
    }

    @Test(arguments: [Int64(32), -1]) func imagesOfSeveralSizes(_ upper: Int64) throws {
        let flexible = try package("image-rgb") { model in
            var ranges = ProtoImageFeatureType.ImageSizeRange()
            ranges.widthRange = Self.range(4, upper)
            ranges.heightRange = Self.range(4, upper)
            model.description_p.input[0].type.imageType.imageSizeRange = ranges
        }
        #expect(flexible.program.inputs[0].type.dimensions == [1, 3, nil, nil])
        let shape: Shape = [1, 3, 16, 20]
        let photo = TensorData(shape: shape, repeating: 9)
        let found = try raise(flexible, inputShapes: ["photo": shape]).run(["photo": photo])
        #expect(found.values.first?.shape == [1, 2, 16, 20])
    }

    /// A dense layer fits one size only.
    @Test func networksThatAreBoundToTheirSizeKeepIt() throws {
        let fixed = try package("quantized-half") { model in
            var ranges = ProtoArrayFeatureType.ShapeRange()
            ranges.sizeRanges = [
                Self.range(1, 1), Self.range(2, 2), Self.range(6, 60), Self.range(6, 60),
            ]
            model.description_p.input[0].type.multiArrayType.shapeRange = ranges
        }
        #expect(
            fixed.description.inputs[0].type == .multiArray(ArrayFeature(.float32, [1, 2, 6, 6])))
    }

    /// A mean image of equal pixels is a bias.
    @Test func meanImagesAreSubtracted() throws {
        func output(_ change: (inout ProtoNeuralNetworkPreprocessing) -> Void) throws -> [Float] {
            let package = try package("image-grayscale") {
                change(&$0.neuralNetwork.preprocessing[0])
            }
            let photo = TensorData(
                shape: [1, 1, 8, 12], scalars: (0..<96).map { Float($0) / 96 })
            let result = try raise(package).run(["photo": photo]).values.first
            return try #require(result).scalars
        }
        let subtracted = try output { $0.meanImage.meanImage = [Float](repeating: 0.5, count: 96) }
        let biased = try output {
            $0.scaler = .init()
            ($0.scaler.channelScale, $0.scaler.grayBias) = (1, -0.5)
        }
        #expect(subtracted == biased)
        #expect(throws: MLPackageError.self) { try output { $0.meanImage.meanImage = [0.5] } }
    }

    /// Outputs of five axes have the shape that is stated, if their elements fit it.
    @Test(arguments: [
        ([], [5]), ([5], [5]), ([5, 1, 1], [5, 1, 1]), ([1, 5], [1, 5]), ([7], [5]),
        ([1, 1, 5, 1, 1], [1, 1, 5, 1, 1]),
    ])
    func statedShapesAreKept(_ stated: [Int64], _ shape: [Int]) throws {
        let package = try package("rank5") { model in
            model.description_p.output.removeAll { $0.name != "dense" }
            model.description_p.output[0].type.multiArrayType.shape = stated
        }
        #expect(package.description.outputs[0].type == .multiArray(ArrayFeature(.float32, shape)))
    }

    /// Arrays of other numbers: layers compute with float32.
    @Test func numbersAreConverted() throws {
        let package = try package("unet") { model in
            model.description_p.input[0].type.multiArrayType.dataType = .int32
            model.description_p.output[0].type.multiArrayType.dataType = .double
        }
        #expect(package.program.inputs[0].type.dataType == .int32)
        #expect(package.program.types[package.program.outputs[0]]?.dataType == .float32)
    }
}
