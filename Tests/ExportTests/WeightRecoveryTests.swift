import Foundation
import RetintCheckpoints
import RetintExport
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Packages whose metadata does not match their program.
@Suite struct WeightRecoveryTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private var path: String { scratch.path("model.mlpackage") }

    /// The package of a narrow ECCV16, after a modification.
    private func makePackage(change: (inout MLPackage) -> Void) throws -> Checkpoint {
        let checkpoint = try Checkpoint(
            .named("eccv16", .init(width: 0.0625)), seed: 5)
        try checkpoint.export(to: path, options: ExportOptions(size: 32))
        var package = try MLPackage(contentsOf: path)
        change(&package)
        try package.write(to: scratch.path("changed.mlpackage"))
        return checkpoint
    }

    private func recover() throws -> RecoveredWeights {
        try RecoveredWeights(ofPackageAt: scratch.path("changed.mlpackage"))
    }

    @Test func unchanged() throws {
        let checkpoint = try makePackage { _ in }
        let weights = try recover()
        #expect(weights.state == checkpoint.state)
        #expect(weights.network == .named("eccv16", .init(width: 0.0625)))
        #expect(weights.isBitEqual && weights.isSinglePrecision)
        #expect(weights.absent.isEmpty && weights.unfolded.isEmpty)
    }

    static let texts: [(change: [String: String], phrase: String)] = [
        (["retint.architecture": "siggraph17"], "conv2d of [16, 1, 3, 3]"),
        (["retint.architecture": "mobile-unet"], "where the architecture has"),
        (["retint.options": ""], "conv2d of [64, 1, 3, 3]"),
        (["retint.architecture": "vgg"], "no architecture named \"vgg\""),
        (["retint.options": "width"], "not a list of name=value"),
        (["retint.options": "width=1 width=1"], "not a list of name=value"),
        (["retint.options": "width=9"], "0.0625 to 4"),
        (["retint.options": "shape=9"], "no option named \"shape\""),
    ]

    @Test(arguments: texts.indices)
    func metadataOfAnotherNetwork(_ index: Int) throws {
        let (change, phrase) = Self.texts[index]
        _ = try makePackage { package in
            package.description.metadata.userDefined.merge(change) { $1 }
        }
        let error = try #require(throws: ConversionError.self) { try recover() }
        #expect(error.description.contains(phrase), "\(error)")
        #expect(error.file.hasSuffix("changed.mlpackage"))
    }

    /// Modified weights are returned as they are, but are not reported as the checkpoint's.
    @Test func otherNumbers() throws {
        let checkpoint = try makePackage { package in
            let index = package.program.operations.firstIndex {
                $0.outputs.first?.name == "model1_0_weight"
            }!
            let shape = package.program.operations[index].outputs[0].type.shape!
            let ones = MILValue.floats(
                [Float](repeating: 1, count: shape.reduce(1, *)), shape: shape)
            package.program.operations[index].attributes["val"] = ones
        }
        let weights = try recover()
        #expect(!weights.isBitEqual)
        #expect(weights.state["model1.0.weight"]?.floats?.allSatisfy { $0 == 1 } == true)
        #expect(weights.state["model1.2.weight"] == checkpoint.state["model1.2.weight"])
    }

    @Test func withoutOrigin() throws {
        let checkpoint = try makePackage { $0.description.metadata.userDefined = [:] }
        let weights = try recover()
        #expect(weights.network == nil && !weights.isBitEqual)
        #expect(
            weights.state["model1_0_weight"]?.floats == checkpoint.state["model1.0.weight"]?.floats)
        #expect(weights.storage == ["fp32": weights.state.count])
    }
}
