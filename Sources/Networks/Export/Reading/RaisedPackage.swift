import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintTensors

/// A package raised to a graph that takes lightness and returns a and b in −110…110, with its
/// interface as a colorizer.
package struct RaisedPackage {
    package let model: RaisedModel
    /// Nil if the package is not a colorizer.
    package let interface: ColorizerInterface?

    /// - Parameters:
    ///   - inputShapes: shapes of flexible inputs, by name; the others get their default shape.
    ///   - rounding: which results the graph rounds to half precision.
    /// - Throws: ``ConversionError`` for an operation, input or metadata that is not supported or
    ///   inconsistent.
    package init(
        _ package: MLPackage, inputShapes: [String: Shape] = [:], rounding: ResultRounding = .none
    ) throws {
        let normalization = try StatedNormalization(package)
        let keys = package.description.metadata.userDefined
        let boundary = RaisedBoundary(
            checkShape: { try SizeMultiple.check($0, of: $1, keys) }, input: normalization.input,
            output: normalization.output)
        model = try raise(
            package, inputShapes: inputShapes, rounding: rounding, boundary: boundary)
        interface = ColorizerInterface(package, normalization, model)
    }
}

/// Checks the multiple of height and width that a package's metadata requires.
private enum SizeMultiple {
    static func check(_ shape: Shape, of feature: Feature, _ keys: [String: String]) throws {
        let key = MetadataKey.sizeMultiple
        guard let text = keys[key] else { return }
        guard let multiple = Int(text), multiple > 0 else {
            throw StatedNormalization.damaged(key, "\"\(text)\" is not a positive integer")
        }
        guard shape.dimensions.suffix(2).allSatisfy({ $0 % multiple == 0 }) else {
            throw ConversionError(
                place: "input \(feature.name)",
                rule: "the network takes multiples of \(multiple), not \(shape)",
                remedy: "Use another size of \(feature.type.allowedShapes).")
        }
    }
}
