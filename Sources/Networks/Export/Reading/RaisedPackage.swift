import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintTensors

/// A package raised to a graph. That of a colorizer takes lightness and returns a and b in
/// −110…110.
package struct RaisedPackage {
    package let model: RaisedModel
    /// The package's interface, which knows the roles of a colorizer's inputs and outputs.
    package let interface: ModelInterface
    /// The factor from L (0…100) to the graph's input: 2.55 for a colorizer of images whose pixel
    /// values 0…255 stand for L in 0…100, otherwise 1. Any other conversion is part of the graph.
    package let lightnessScale: Float

    /// - Parameters:
    ///   - inputShapes: shapes of flexible inputs, by name; the others get their default shape.
    ///   - rounding: which results the graph rounds to half precision.
    /// - Throws: ``ConversionError`` for an operation, input or metadata that is not supported or
    ///   inconsistent.
    package init(
        _ package: MLPackage, inputShapes: [String: Shape] = [:], rounding: ResultRounding = .none
    ) throws {
        let normalization = try StatedNormalization(package)
        let boundary = RaisedBoundary(
            checkShape: { try normalization.check($0, of: $1) }, input: normalization.input,
            output: normalization.output)
        model = try raise(
            package, inputShapes: inputShapes, rounding: rounding, boundary: boundary)
        interface = ModelInterface(package, normalization, model)
        lightnessScale = interface.isColorizer ? normalization.lightnessScale : 1
    }
}

extension StatedNormalization {
    /// Checks the multiple of height and width that the package states.
    fileprivate func check(_ shape: Shape, of feature: Feature) throws {
        guard let multiple = sizeMultiple, feature.type.isFlexible else { return }
        guard shape.dimensions.suffix(2).allSatisfy({ $0 % multiple == 0 }) else {
            throw ConversionError(
                place: "input \(feature.name)",
                rule: "the network takes multiples of \(multiple), not \(shape)",
                remedy: "Use another size of \(feature.type.allowedShapes).")
        }
    }
}
