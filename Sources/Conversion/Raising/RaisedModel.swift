import MLPackage
import TensorGraph

/// A package as a graph that the engine can run.
package struct RaisedModel {
    package let graph: Graph
    package let inputs: [(name: String, shape: Shape)]
    package let outputs: [(name: String, value: Tensor)]
    /// The values of the graph's variables: the package's weights.
    package let variables: [String: TensorData]
    /// How lightness goes in and color comes out; nil if the package is no colorizer.
    package let interface: ColorizerInterface?
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
/// float16 numbers are carried as the float32 numbers that they are; whether arithmetic rounds to
/// half precision is up to whoever runs the graph.
///
/// - Parameter inputShapes: sizes for inputs that take several; their default size otherwise.
/// - Throws: ``ConversionError`` with the place of what is not supported or does not fit.
package func raise(
    _ package: MLPackage, inputShapes: [String: Shape] = [:]
) throws -> RaisedModel {
    let raising = ProgramRaising(package)
    try raising.defineInputs(inputShapes)
    for (index, operation) in package.program.operations.enumerated() {
        try raising.raise(operation, place: operation.place(index))
    }
    return try raising.model()
}
