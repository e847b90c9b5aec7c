import RetintMIL
import RetintMLPackage

/// How a package is quantized: its weights, and the inputs of its operations.
public struct QuantizationPlan: Hashable, Sendable {
    /// The schemes of weights. Types are those of the operations that use them; names are those of
    /// the weights or of these operations.
    public var weights: SchemeSelection<QuantizationScheme>
    /// The schemes of the inputs of operations, of which a calibration finds the ranges. Without
    /// schemes, all stay floats.
    public var activations: SchemeSelection<ActivationScheme>

    /// How far the ranges of a value's channels are evened out before it is quantized, from 0 to 1
    /// (SmoothQuant's α); nil to leave them. Factors that are powers of two move into the weights,
    /// which in float32 changes nothing else.
    public var smoothing: Double?

    /// Reasons for weights that the plan excludes, by weight name, if there is a specific one.
    var reasons: [String: String] = [:]

    func reason(forExcluding weight: String) -> String {
        reasons[weight] ?? "the plan excludes it"
    }

    /// A plan with one scheme for all weights, and one for the inputs of operations; nil for none.
    public init(_ weights: QuantizationScheme?, activations: ActivationScheme? = nil) {
        (self.weights, self.activations) = (.init(weights), .init(activations))
    }

    /// The earliest deployment target with the operations that the plan needs, and what needs it;
    /// nil if it needs nothing.
    var firstTarget: (target: DeploymentTarget, reason: String)? {
        let weights = weights.all.sorted { "\($0)" < "\($1)" }.map {
            (target: $0.firstTarget, reason: "\($0.weights) weights")
        }
        let activations =
            activations.all.isEmpty
            ? [] : [(target: ActivationScheme.firstTarget, reason: "quantized activations")]
        return (activations + weights).max { $0.target < $1.target }
    }

    /// Checks the plan against a package.
    ///
    /// - Throws: `ConversionError` for a scheme that is inconsistent or that the package's
    ///   deployment target does not support, and for a name or type that matches no part of the
    ///   package.
    func check(_ package: MLPackage) throws {
        for scheme in weights.all { try scheme.check(package.target) }
        for scheme in activations.all { try scheme.check(package.target) }
        guard smoothing.map((0...1).contains) ?? true else {
            throw ConversionError.option(
                "smoothing \(smoothing ?? 0)", "it must be from 0 to 1", "Choose one such as 0.5.")
        }
        try weights.check(
            against: package.weights.map { ($0.names, $0.type) }, "weight or operation")
        try activations.check(
            against: package.program.operations.filter { !$0.isConstant }.map {
                ($0.ownNames, $0.type)
            }, "operation")
    }

    /// The scheme of a weight; nil to leave it uncompressed.
    func scheme(of weight: PackageWeight) -> QuantizationScheme? {
        weights.scheme(names: weight.names, type: weight.type)
    }
}

extension MILOperation {
    /// The names that a plan can refer to an operation by.
    var ownNames: [String] { [name] + outputs.map(\.name) }
}
