import Foundation
import RetintCoreMLProto
import RetintTestSupport
import Testing

@testable import RetintMLPackage

/// The labels of classifiers: not part of a package in memory, and written again.
@Suite struct ClassifierTests {
    private let path = Goldens.path("classifier-iOS16")

    private func model(_ path: String) throws -> ProtoModel {
        try ProtoModel(serializedBytes: contents("\(path)/\(Part.model)"))
    }

    @Test func theProbabilitiesAreTheOutput() throws {
        let package = try MLPackage(contentsOf: path)
        let classify = try #require(try model(path).mlProgram.functions["main"])
            .blockSpecializations["CoreML6"]?.operations.last
        #expect(classify?.type == "classify")
        let name = classify?.inputs["probabilities"]?.arguments.first?.name
        #expect(package.program.outputs == [name])
        #expect(!package.program.operations.contains { $0.type == "classify" })
        #expect(
            package.description.outputs
                == [Feature(name ?? "", .multiArray(ArrayFeature(.float32, [1, 3])))])
    }

    @Test func labelsAreWrittenAgain() throws {
        let scratch = try TemporaryFolder()
        let package = try MLPackage(contentsOf: path)
        try package.write(to: scratch.path("a"))
        let (before, after) = (try model(path), try model(scratch.path("a")))
        #expect(after.description_p == before.description_p)
        #expect(after.description_p.predictedFeatureName == "classLabel")
        let blocks = [before, after].map {
            $0.mlProgram.functions["main"]?.blockSpecializations["CoreML6"]
        }
        #expect(blocks[0]?.outputs == blocks[1]?.outputs)
        #expect(blocks[0]?.operations.last == blocks[1]?.operations.last)
        #expect(try loaded(MLPackage(contentsOf: scratch.path("a"))) == loaded(package))
    }

    /// Each damage to a classifier, and what is said of it.
    @Test(arguments: [
        ("no operation", "does not end with an operation classify"),
        ("no value", "no operation computes \"none\""),
        ("other label", "the outputs of classify are"),
    ])
    func damagedClassifiersAreRefused(_ damage: String, _ words: String) throws {
        var model = try model(path)
        var block = try #require(
            model.mlProgram.functions["main"]?.blockSpecializations["CoreML6"])
        let last = block.operations.count - 1
        switch damage {
        case "no operation": block.operations[last].type = "identity"
        case "no value":
            block.operations[last].inputs["probabilities"]?.arguments[0].name = "none"
        default: model.description_p.predictedFeatureName = "other"
        }
        model.mlProgram.functions["main"]?.blockSpecializations["CoreML6"] = block
        let scratch = try TemporaryFolder()
        let copy = scratch.path("a.mlpackage")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try replace("\(copy)/\(Part.model)", [UInt8](model.serializedData()))
        let error = error { () throws(MLPackageError) in _ = try MLPackage(contentsOf: copy) }
        #expect(error?.rule.contains(words) == true, "\(String(describing: error))")
    }

    @Test func classifiersAreNotCombined() throws {
        let package = try MLPackage(contentsOf: path)
        let error = error { () throws(MLPackageError) in
            _ = try MultifunctionPackage([("a", package), ("b", package)])
        }
        #expect(error?.rule == "classifiers with labels cannot be combined")
    }
}
