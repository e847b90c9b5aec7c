import RetintArchitectures
import RetintGraph
import RetintMIL
public import RetintMLPackage
import RetintTensors

extension ExportOptions {
    /// The options that a package was exported with, as far as they affect its arithmetic: for
    /// its default size, and without options that only affect metadata.
    ///
    /// Operations of a float16 package that compute in float32 are selected by their names.
    ///
    /// - Throws: ``ConversionError`` for invalid metadata.
    package init(of package: MLPackage) throws {
        let keys = package.description.metadata.userDefined
        let program = package.program
        let shape = package.description.inputs.first?.type.defaultShape ?? []
        let size = shape.count == 4 ? shape.suffix(2).map { $0 } : [256, 256]
        self.init()
        (height, width) = (size[0], size[1])
        let isHalf = program.computing.contains { $0.outputs[0].type.dataType == .float16 }
        precision = isHalf ? .float16 : .float32
        target = Target.allCases.first { $0.deploymentTarget == package.target } ?? .iOS15
        input = package.takesImage ? .image : .tensor
        output = program.outputs.count == 2 ? .split : .ab
        let stated = try StatedNormalization(package)
        (normalization, imageScaling) = (stated.normalization, stated.pixels)
        foldsBatchNorm = (Int(keys[MetadataKey.folded] ?? "") ?? 0) > 0
        guard isHalf else { return }
        let nodes = NodeRecord(package).nodes
        float32.names = program.computing.map { $0.outputs[0] }
            .filter { $0.type.dataType == .float32 }.map { nodes[$0.name] ?? $0.name }
    }
}

extension ExportOptions {
    /// The precision, the target and the element type of a package.
    public init(keepingThoseOf package: MLPackage) throws {
        let own = try ExportOptions(of: package)
        self.init(precision: own.precision, target: own.target)
        let isHalf = package.description.inputs.contains {
            $0.type.tensorType.dataType == .float16
        }
        elementType = isHalf ? .float16 : .float32
    }

    /// The same in float32 alone.
    package var inFloat32: ExportOptions {
        var options = self
        (options.precision, options.float32) = (.float32, Float32Operations())
        return options
    }
}

extension MLPackage {
    /// Whether retint exported it from a colorizer's checkpoint.
    public var isExportedColorizer: Bool {
        description.metadata.userDefined[MetadataKey.architecture] != nil
    }
}

/// The float32 package of the checkpoint that a package was exported from, with the same options.
///
/// - Returns: nil if retint did not export the package, or from another network.
/// - Throws: as ``ExportSource/package(_:)`` does.
package func originalPackage(
    of package: MLPackage, from source: ExportSource, precision: ExportOptions.Precision = .float32
) throws -> MLPackage? {
    guard PackageOrigin.matches(package, of: source.network) else { return nil }
    var options = try ExportOptions(of: package)
    if precision == .float32 { options = options.inFloat32 }
    options.precision = precision
    return try source.package(options).package
}

/// The inputs and outputs of a package's program in terms of lightness and colors.
package struct ProgramUnits {
    private let options: ExportOptions

    /// - Throws: ``ConversionError`` for invalid metadata.
    package init(_ package: MLPackage) throws { options = try ExportOptions(of: package) }

    /// The program's input for lightness in 0…100.
    package func input(lightness: TensorData) -> TensorData { options.input(lightness: lightness) }

    /// The program's output for colors in −110…110.
    package func output(colors: TensorData) -> TensorData {
        guard options.normalization == .outside else { return colors }
        return TensorData(
            shape: colors.shape, scalars: colors.scalars.map { $0 / LabScaling.colorRange })
    }
}
