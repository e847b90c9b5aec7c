import RetintTestSupport
import Testing

@testable import RetintMLPackage

/// Interfaces that take several sizes.
struct FlexibilityTests {
    /// relu on [1, 1, ?, 16].
    private static func package(_ input: FeatureType) throws -> MLPackage {
        var builder = MILProgramBuilder()
        let type = MILTensorType(.float32, [1, 1, nil, 16])
        let x = builder.input("x", type)
        let y = builder.operation("relu", ["x": .name(x)], name: "y", type: type)
        try builder.output(y, as: "y")
        let description = ModelDescription(
            inputs: [Feature("x", input)],
            outputs: [Feature("y", .multiArray(ArrayFeature(.float32, [])))])
        return MLPackage(target: .iOS15, description: description, program: builder.program)
    }

    private static func array(_ flexibility: ArrayFeature.Flexibility) -> FeatureType {
        .multiArray(ArrayFeature(.float32, [1, 1, 8, 16], flexibility))
    }

    private static func ranges(_ rows: SizeRange, _ columns: SizeRange) -> FeatureType {
        array(.ranges([SizeRange(1, 1), SizeRange(1, 1), rows, columns]))
    }

    private static func image(_ flexibility: ImageFeature.Flexibility) -> FeatureType {
        .image(
            ImageFeature(
                width: 16, height: 8, colorSpace: .grayscale, flexibility: flexibility))
    }

    static let good: [(FeatureType, [Int], String)] = [
        (array(.enumerated([[1, 1, 8, 16], [1, 1, 24, 16]])), [8, 24], "[1, 1, 24, 16]"),
        (ranges(SizeRange(4, nil), SizeRange(16, 16)), [4, 8, 999], "[1, 1, 4…, 16]"),
        (
            image(.enumerated([.init(width: 16, height: 8), .init(width: 16, height: 2)])),
            [2, 8], "16×8, 16×2"
        ),
        (
            image(.ranges(width: SizeRange(16, 16), height: SizeRange(8, 9))), [8, 9],
            "16 wide and 8…9 high"
        ),
    ]

    @Test(arguments: good.indices) func comesBack(index: Int) throws {
        let (feature, rows, text) = Self.good[index]
        let scratch = try TemporaryFolder()
        try Self.package(feature).write(to: scratch.path("m"))
        let again = try MLPackage(contentsOf: scratch.path("m"))
        #expect(again.description.inputs[0].type == feature)
        for row in 1...1000 {
            #expect(feature.allows([1, 1, row, 16]) == rows.contains(row) || rows.count == 3)
        }
        #expect(rows.allSatisfy { feature.allows([1, 1, $0, 16]) })
        #expect(!feature.allows([1, 1, 3, 16]) && !feature.allows([1, 1, 8, 17]))
        #expect(!feature.allows([1, 2, 8, 16]) && !feature.allows([1, 8, 16]))
        #expect(feature.allowedShapes.contains(text))
    }

    static let bad: [(FeatureType, String)] = [
        (array(.fixed), "the interface says"),
        (array(.enumerated([[1, 1, 24, 16]])), "is not listed"),
        (array(.enumerated([[1, 1, 8, 16], [1, 1, 8, 32]])), "axis 3, which has only 16"),
        (ranges(SizeRange(9, 12), SizeRange(16, 16)), "outside the range"),
        (ranges(SizeRange(8, 12), SizeRange(1, 32)), "sizes 1…32 are offered for axis 3"),
        (image(.enumerated([.init(width: 16, height: 2)])), "is not listed"),
        (
            image(.ranges(width: SizeRange(16, nil), height: SizeRange(8, 9))),
            "sizes 16… are offered"
        ),
    ]

    @Test(arguments: bad.indices) func refuses(index: Int) throws {
        let (feature, rule) = Self.bad[index]
        let scratch = try TemporaryFolder()
        let package = try Self.package(feature)
        let failure = error { () throws(MLPackageError) in try package.write(to: scratch.path("m"))
        }
        #expect(failure?.rule.contains(rule) == true, "\(String(describing: failure))")
    }
}
