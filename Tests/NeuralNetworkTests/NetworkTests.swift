import RetintMIL
import RetintMLPackage
import RetintNeuralNetwork
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// Networks that coremltools converted against PyTorch. `Goldens/record_networks.py` records both.
@Suite struct NetworkTests {
    private static let names = [
        "classifier", "generator", "image-bgr", "image-grayscale", "image-rgb", "quantized-half",
        "quantized-linear4", "quantized-linear8", "quantized-symmetric8", "quantized-table1",
        "quantized-table3", "quantized-table6", "unet", "unet-enumerated", "unet-range",
    ]

    @Test func allAreTested() throws {
        let recorded: [String: Recording] = try decodeGolden("networks.json")
        #expect(recorded.keys.sorted() == Self.names)
    }

    @Test(arguments: names) func equalPyTorch(_ name: String) throws {
        let recorded: [String: Recording] = try decodeGolden("networks.json")
        let package = try MLPackage(contentsOfMLModel: goldenPath("\(name).mlmodel"))
        try #require(recorded[name]).compare(with: package, within: 2e-5)
    }

    /// A written package is the same model.
    @Test(arguments: ["unet", "unet-range", "image-bgr", "generator"])
    func arePackages(_ name: String) throws {
        let package = try MLPackage(contentsOfMLModel: goldenPath("\(name).mlmodel"))
        let scratch = try TemporaryFolder()
        let path = scratch.path("net.mlpackage")
        try package.write(to: path)
        let recorded: [String: Recording] = try decodeGolden("networks.json")
        try #require(recorded[name]).compare(with: MLPackage(contentsOf: path), within: 2e-5)
    }

    @Test func interfacesAreKept() throws {
        let range = try MLPackage(contentsOfMLModel: goldenPath("unet-range.mlmodel"))
        #expect(range.description.inputs[0].type.allowedShapes == "[1, 1, 8…64, 8…64]")
        let listed = try MLPackage(contentsOfMLModel: goldenPath("unet-enumerated.mlmodel"))
        #expect(listed.description.inputs[0].type.listedShapes?.count == 2)
        let image = try MLPackage(contentsOfMLModel: goldenPath("image-bgr.mlmodel"))
        #expect(
            image.description.inputs[0].type
                == .image(ImageFeature(width: 12, height: 8, colorSpace: .bgr)))
        let classifier = try MLPackage(contentsOfMLModel: goldenPath("classifier.mlmodel"))
        #expect(classifier.metadata.userDefined["classes"] == "cat,dog,cow")
    }
}

/// Compiled models, in the two spellings of MIL's text form. `Goldens/record_compiled.py` records
/// them.
@Suite struct CompiledTests {
    @Test(arguments: ["compiled-ios16", "compiled-ios18", "compiled-range"])
    func equalPyTorch(_ name: String) throws {
        let recorded: [String: Recording] = try decodeGolden("compiled.json")
        let package = try MLPackage(contentsOfCompiled: goldenPath("\(name).mlmodelc"))
        try #require(recorded[name]).compare(with: package, within: 2e-5)
        #expect(package.metadata.author == "Who")
        #expect(package.metadata.shortDescription == "Say \"hi\"")
    }

    @Test func interfacesAreKept() throws {
        let image = try MLPackage(contentsOfCompiled: goldenPath("compiled-ios18.mlmodelc"))
        #expect(image.target == .iOS18)
        #expect(
            image.description.inputs[0].type
                == .image(ImageFeature(width: 12, height: 8, colorSpace: .bgr)))
        let range = try MLPackage(contentsOfCompiled: goldenPath("compiled-range.mlmodelc"))
        #expect(range.description.inputs[0].type.allowedShapes == "[1, 3, 8…32, 8…32]")
    }
}
