import RetintCheckpoints
import RetintExport
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import Testing

/// Normalization of lightness and color inside or outside the model.
@Suite struct NormalizationTests {
    static let names = ColorizerTests.names

    private static func outside(_ input: ExportOptions.Input = .tensor) -> ExportOptions {
        var options = ExportOptions(input: input, size: 64)
        options.normalization = .outside
        return options
    }

    /// With normalization outside, the model maps (L − 50)/100 to a/110 and b/110. Once raised, it
    /// takes L and returns a and b like any other colorizer.
    @Test(arguments: names)
    func outsideComputesTheSame(_ name: String) throws {
        let export = try Exported(name, Self.outside())
        let expected = try export.expected()
        #expect(export.interface.isColorizer && export.lightnessScale == 1)
        let found = try export.model.run(["input": export.lightness])["ab"]
        #expect(try distance(found, expected) <= 5e-4)
    }

    @Test func outsideIsThePackagesOwnBusiness() throws {
        let export = try Exported("mobile-unet", Self.outside())
        var package = export.package
        // Without the metadata entry, the program is run unchanged.
        package.description.metadata.userDefined["retint.normalization"] = nil
        let shape = export.lightness.shape
        let input = TensorData(
            shape: shape, scalars: export.lightness.scalars.map { ($0 - 50) / 100 })
        let found = try RaisedPackage(package).model.run(["input": input])["ab"]
        let expected = TensorData(
            shape: [1, 2, 64, 64], scalars: try export.expected().scalars.map { $0 / 110 })
        #expect(try distance(found, expected) <= 2e-5)
    }

    /// The network's own normalization and denormalization cancel out and are not exported.
    @Test(arguments: [("eccv16", 3), ("siggraph17", 3), ("mobile-unet", 3)])
    func leavesStepsOut(_ name: String, _ count: Int) throws {
        let inside = try Exported(name, ExportOptions(size: 64)).summary.operationCount
        let outside = try Exported(name, Self.outside()).summary.operationCount
        #expect(inside - outside == count)
    }

    struct Pixels: Sendable {
        let normalization: ExportOptions.Normalization
        let scaling: ExportOptions.ImageScaling?
    }

    @Test(arguments: [
        Pixels(normalization: .inside, scaling: nil),
        Pixels(normalization: .outside, scaling: nil),
        Pixels(normalization: .inside, scaling: .init(scale: 0.5, bias: 10)),
        Pixels(normalization: .outside, scaling: .init(scale: -1 / 255, bias: 0.5)),
    ])
    func pictures(_ pixels: Pixels) throws {
        var options = Self.outside(.image)
        (options.normalization, options.imageScaling) = (pixels.normalization, pixels.scaling)
        let export = try Exported("mobile-unet", options)
        #expect(export.interface.isColorizer)
        #expect(export.interface.inputs[0].colorLayout != nil)
        #expect(export.lightnessScale == (pixels.scaling == nil ? 2.55 : 1))
        let scaled = export.lightness.scalars.map { $0 * export.lightnessScale }
        let input = TensorData(shape: export.lightness.shape, scalars: scaled)
        let found = try export.model.run(["input": input])["ab"]
        #expect(try distance(found, try export.expected()) <= 2e-3)
        // The options' conversion of lightness must match the package's input.
        var package = export.package
        for key in ["normalization", "image_scale", "image_bias"] {
            package.description.metadata.userDefined["retint.\(key)"] = nil
        }
        let raw = try RaisedPackage(package).model.run([
            "input": options.input(lightness: export.lightness)
        ])
        let factor: Float = pixels.normalization == .inside ? 1 : 110
        let ab = try #require(raw["ab"])
        let same = TensorData(shape: ab.shape, scalars: ab.scalars.map { $0 * factor })
        #expect(try distance(same, try export.expected()) <= 2e-3)
    }

    @Test(arguments: [
        ("normalization", "sideways"), ("image_scale", "0"), ("image_scale", "nan"),
        ("image_bias", "a"),
    ])
    func refusesDamagedMetadata(_ key: String, _ value: String) throws {
        var options = ExportOptions(input: .image, size: 64)
        options.imageScaling = .init(scale: 0.5)
        var package = try FormNetwork.source.package(options).package
        package.description.metadata.userDefined["retint.\(key)"] = value
        let error = #expect(throws: ConversionError.self) { try RaisedPackage(package) }
        #expect(error?.place == "metadata retint.\(key)")
    }

    @Test(arguments: [
        (ExportOptions.Input.tensor, Float(1)), (.image, 0), (.image, .infinity),
    ])
    func refusesScaling(_ input: ExportOptions.Input, _ scale: Float) throws {
        var options = ExportOptions(input: input, size: 64)
        options.imageScaling = .init(scale: scale)
        let error = #expect(throws: ConversionError.self) {
            try FormNetwork.source.package(options).package
        }
        #expect(error?.place == "image scaling" && error?.kind == .option)
    }
}
