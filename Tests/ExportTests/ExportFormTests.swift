import Foundation
import RetintArchitectures
import RetintExport
import RetintGraph
import RetintLayers
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// Sizes, precisions and image inputs as written by coremltools, recorded by
/// Goldens/record_exports.py for the network below.
@Suite struct ExportFormTests {
    struct Form: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (inout ExportOptions) -> Void

        init(_ name: String, _ change: @escaping @Sendable (inout ExportOptions) -> Void = { _ in })
        {
            self.name = name
            self.change = change
        }

        var testDescription: String { name }
    }

    private static let listed = [
        ExportOptions.Size(width: 64, height: 32), ExportOptions.Size(width: 96, height: 64),
    ]

    static let forms = [
        Form("fixed"),
        Form("range") { $0.flexibility = .range(from: .init(32), to: .init(128)) },
        Form("enumerated") { $0.flexibility = .enumerated(listed) },
        Form("enumerated width") { $0.flexibility = .enumerated([listed[1]]) },
        Form("image range") {
            ($0.input, $0.imageScaling) = (.image, .init())
            $0.flexibility = .range(from: .init(32), to: .init(128))
        },
        Form("image enumerated") {
            ($0.input, $0.imageScaling) = (.image, .init())
            $0.flexibility = .enumerated(listed)
        },
        Form("image scaled") {
            ($0.input, $0.imageScaling) = (.image, .init(scale: 1 / 255, bias: -0.5))
        },
        Form("float16") { $0.precision = .float16 },
        Form("keeps relu") {
            $0.precision = .float16
            $0.float32.types = ["relu"]
        },
        Form("keeps conv") {
            $0.precision = .float16
            $0.float32.types = ["conv", "upsample_bilinear"]
        },
    ]

    @Test(arguments: forms)
    func asCoremltools(_ form: Form) throws {
        let expected = try Recorded.read(form.name)
        var options = ExportOptions(size: 64)
        form.change(&options)
        let package = try FormNetwork.source.package(options).package
        #expect(package.description.inputs.map(\.type) == [try expected.input.feature()])
        #expect(package.description.outputs.map(\.type) == [try expected.output.feature()])
        let program = package.program
        #expect(program.inputs.map(\.type.dimensions) == [expected.programInput])
        let operations = program.operations.filter { !$0.isConstant }
        // PyTorch slices rows and columns in two separate operations.
        let wanted = expected.operations.enumerated().filter { index, operation in
            index + 1 == expected.operations.count
                || operation.type != expected.operations[index + 1].type
        }.map(\.element)
        #expect(operations.map(\.type) == wanted.map(\.type))
        let results = operations.map { $0.outputs[0].type }
        #expect(results.map(\.dimensions) == wanted.map(\.shape))
        #expect(results.map(\.dataType.rawValue) == wanted.map(\.dtype))
        for (operation, record) in zip(operations, wanted) {
            // Older versions omit masks that are all false.
            let own = Set(operation.inputs.keys).subtracting(["begin_mask", "squeeze_mask"])
            let theirs = Set(record.parameters).subtracting(["begin_mask", "squeeze_mask"])
            #expect(own == theirs, "\(operation.type)")
        }
        try writes(package)
    }

    /// Colors that an integer of 8 bits cannot hold become the nearest ones that it can.
    @Test func integersAreClipped() throws {
        let source = FormNetwork.source
        let large = ExportSource(
            source.network, colorizer: source.colorizer,
            variables: source.variables.mapValues {
                TensorData(shape: $0.shape, scalars: $0.scalars.map { 100 * $0 })
            })
        var options = ExportOptions(size: 8)
        (options.target, options.elementType) = (.iOS26, .int8)
        let lightness = TensorData(
            shape: [1, 1, 8, 8], scalars: (0..<64).map { Float($0 % 7) * 16 })
        let model = try RaisedPackage(large.package(options).package).model
        let colors = try #require(model.run(["input": lightness])["ab"]).scalars
        #expect(colors.min() == -128 && colors.max() == 127)
        #expect(colors.allSatisfy { $0 == $0.rounded() })
    }

    private func writes(_ package: MLPackage) throws {
        let scratch = try TemporaryFolder()
        try package.write(to: scratch.path("m.mlpackage"))
        #expect(try MLPackage(contentsOf: scratch.path("m.mlpackage")).target == .iOS15)
    }
}

/// The network of the recordings; it does not normalize lightness.
final class FormNetwork: Module, ColorizerArchitecture {
    static let architecture = "form"
    static let requiredMultiple = 4

    let down = Conv2d(1, 4, kernel: 3, stride: 2, padding: 1)
    let up = ConvTranspose2d(4, 2, kernel: 4, stride: 2, padding: 1)

    init(options: ColorizerOptions = .init()) {
        super.init()
        assignNames()
    }

    func forward(_ lightness: Tensor) -> Tensor {
        upsampleBilinear(up(relu(down(lightness))).subsampled(by: 2), factor: 2)
    }

    static var source: ExportSource {
        let network = FormNetwork()
        return ExportSource(
            .named(architecture), colorizer: network,
            variables: StateSpec(of: network).initialValues(seed: 1))
    }
}

/// A package written by coremltools.
private struct Recorded: Decodable {
    struct Operation: Decodable {
        let type: String
        let shape: [Int?]
        let dtype: Int
        let parameters: [String]
    }

    let input: RecordedFeature
    let output: RecordedFeature
    let programInput: [Int?]
    let operations: [Operation]

    private enum CodingKeys: String, CodingKey {
        case input, output, operations
        case programInput = "program_input"
    }

    static func read(_ name: String) throws -> Recorded {
        let all: [String: Recorded] = try decodeGolden("exports.json")
        return try #require(all[name])
    }
}

/// A feature's type in protobuf's JSON encoding, in which 64-bit integers are strings.
private struct RecordedFeature: Decodable {
    struct Range: Decodable {
        let lowerBound: String
        let upperBound: String

        var range: SizeRange { SizeRange(Int(lowerBound) ?? 0, Int(upperBound)) }
    }

    struct Array: Decodable {
        struct Shape: Decodable { let shape: [String] }
        struct Shapes: Decodable { let shapes: [Shape] }
        struct Ranges: Decodable { let sizeRanges: [Range] }

        let shape: [String]?
        let enumeratedShapes: Shapes?
        let shapeRange: Ranges?
    }

    struct Image: Decodable {
        struct Size: Decodable {
            let width: String
            let height: String

            var size: ImageFeature.Size {
                .init(width: Int(width) ?? 0, height: Int(height) ?? 0)
            }
        }
        struct Sizes: Decodable { let sizes: [Size] }
        struct Ranges: Decodable {
            let widthRange: Range
            let heightRange: Range
        }

        let width: String
        let height: String
        let enumeratedSizes: Sizes?
        let imageSizeRange: Ranges?
    }

    let multiArrayType: Array?
    let imageType: Image?

    func feature() throws -> FeatureType {
        if let imageType { return .image(imageType.feature) }
        return .multiArray(try #require(multiArrayType).feature)
    }
}

extension RecordedFeature.Array {
    fileprivate var feature: ArrayFeature {
        var feature = ArrayFeature(.float32, (shape ?? []).compactMap { Int($0) })
        if let list = enumeratedShapes {
            feature.flexibility = .enumerated(
                list.shapes.map { $0.shape.compactMap { Int($0) } })
        }
        if let list = shapeRange { feature.flexibility = .ranges(list.sizeRanges.map(\.range)) }
        return feature
    }
}

extension RecordedFeature.Image {
    fileprivate var feature: ImageFeature {
        var feature = ImageFeature(
            width: Int(width) ?? 0, height: Int(height) ?? 0, colorSpace: .grayscale)
        if let list = enumeratedSizes { feature.flexibility = .enumerated(list.sizes.map(\.size)) }
        if let ranges = imageSizeRange {
            feature.flexibility = .ranges(
                width: ranges.widthRange.range, height: ranges.heightRange.range)
        }
        return feature
    }
}
