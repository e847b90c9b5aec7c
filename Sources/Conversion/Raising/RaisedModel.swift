import MLPackage
import TensorGraph

/// A package as a graph that the engine can run.
package struct RaisedModel {
    package let graph: Graph
    package let inputs: [(name: String, shape: Shape)]
    package let outputs: [(name: String, value: Tensor)]
    /// The values of the graph's variables: the package's weights.
    package let variables: [String: TensorData]
    /// What the operations compute, in the program's order; constants are left out, and values that
    /// only give another one a name.
    package let results: [RaisedResult]
    /// How lightness goes in and color comes out; nil if the package is no colorizer.
    package let interface: ColorizerInterface?
}

/// What an operation of a package computes.
package struct RaisedResult {
    /// The value's name in the program.
    package let name: String
    /// MIL's word for what computes it: `conv`.
    package let operation: String
    package let value: Tensor
    /// The values that it is computed from, constants left out.
    package let inputs: [Tensor]
}

/// Which results are rounded to half precision, as arithmetic in float16 does it: each operation's
/// once, however many operations of the graph stand for it.
package enum HalfRounding: Hashable, Sendable {
    case none
    /// Those that the package declares as float16.
    case declared
    /// All, the inputs and the constants among them.
    case every
}

/// How to use a package as a colorizer.
package struct ColorizerInterface: Hashable, Sendable {
    package enum Outputs: Hashable, Sendable {
        /// One output, [N, 2, H, W].
        case joint(String)
        /// Two outputs, [N, 1, H, W] each.
        case split(a: String, b: String)
    }

    package let input: String
    /// Whether the model takes a grayscale picture instead of numbers.
    package let takesImage: Bool
    /// What L (0…100) is multiplied by to give the raised model's input: 2.55 for pictures whose
    /// pixels stand for L as they usually do, 1 otherwise. All else that the package wants of its
    /// input is part of the graph.
    package let lightnessScale: Float
    package let outputs: Outputs

    /// Whether the raised model's input are pixels, whole numbers from 0 to 255.
    package var takesPixels: Bool { takesImage && lightnessScale != 1 }
}

/// Turns a package into a graph.
///
/// float16 numbers are carried as the float32 numbers that they are.
///
/// - Parameters:
///   - inputShapes: sizes for inputs that take several; their default size otherwise.
///   - rounding: which results the graph rounds to half precision.
/// - Throws: ``ConversionError`` with the place of what is not supported or does not fit.
package func raise(
    _ package: MLPackage, inputShapes: [String: Shape] = [:], rounding: HalfRounding = .none
) throws -> RaisedModel {
    let raising = ProgramRaising(package, rounding: rounding)
    try raising.defineInputs(inputShapes)
    for (index, operation) in package.program.operations.enumerated() {
        try raising.raise(operation, place: operation.place(index))
    }
    return try raising.model()
}
