import RetintMIL
import RetintMLPackage

/// How a search stores a weight, and whether the operation that uses it gets integers, too.
struct WeightForm: Hashable, CustomStringConvertible {
    /// Nil for the weight as it is.
    var scheme: QuantizationScheme?
    /// How the inputs of the operation are quantized; nil if they stay floats.
    var inputs: ActivationScheme?

    /// `float`, `int8 per-channel`, or `w8a8 int8 symmetric mse` for weights and inputs of 8 bits.
    var description: String {
        if let inputs { return "w8a8 \(inputs)" }
        return scheme.map { "\($0)" } ?? "float"
    }
}

extension PackageWeight {
    /// The names of the operations that use it.
    var operations: [String] { uses.map(\.operation.name) }
}
