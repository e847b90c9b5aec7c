import RetintGraph
import RetintMLPackage
import RetintTensors

/// A package converted to a graph that the engine can run.
package struct RaisedModel {
    package let graph: Graph
    package let inputs: [(name: String, shape: Shape)]
    package let outputs: [(name: String, value: Tensor)]
    /// The values of the graph's variables: the package's weights.
    package let variables: [String: TensorData]
    /// The operations' results in the program's order, without constants and without operations
    /// that only rename or cast a value.
    package let results: [RaisedResult]
    /// All values that are not constants, by their names in the program.
    package let values: [String: Tensor]
}

/// A value that an operation of a package computes.
package struct RaisedResult {
    /// The value's name in the program.
    package let name: String
    /// The module path and operation of the node that was exported as this value; nil if the
    /// package does not record it.
    package let node: String?
    /// The operation's MIL type, such as `conv`.
    package let operation: String
    package let value: Tensor
    /// The values it is computed from, without constants.
    package let inputs: [Tensor]
}

/// Which results are rounded to half precision, as float16 arithmetic does. Rounding happens once
/// for each operation of the package, however many graph operations implement it.
package enum ResultRounding: Hashable, Sendable {
    case none
    /// Results that the package declares as float16.
    case declared
    /// All results, inputs and constants.
    case every
}

/// The conversions between the graph's inputs and outputs and those of the program.
package struct RaisedBoundary {
    /// Throws for an input shape that is not supported although program and interface allow it.
    package var checkShape: (Shape, Feature) throws -> Void
    /// Computes the program's input from the graph's.
    package var input: (Tensor) -> Tensor
    /// Computes the graph's output from the program's.
    package var output: (Tensor) -> Tensor

    package init(
        checkShape: @escaping (Shape, Feature) throws -> Void = { _, _ in },
        input: @escaping (Tensor) -> Tensor = { $0 },
        output: @escaping (Tensor) -> Tensor = { $0 }
    ) {
        (self.checkShape, self.input, self.output) = (checkShape, input, output)
    }
}

/// Converts a package to a graph.
///
/// float16 values are stored as float32.
///
/// - Parameters:
///   - inputShapes: shapes of flexible inputs, by name; the others get their default shape.
///   - rounding: which results the graph rounds to half precision.
///   - boundary: conversions before and after the program.
/// - Throws: ``ConversionError`` for an operation or input that is not supported or inconsistent.
package func raise(
    _ package: MLPackage, inputShapes: [String: Shape] = [:], rounding: ResultRounding = .none,
    boundary: RaisedBoundary = RaisedBoundary()
) throws -> RaisedModel {
    let raising = ProgramRaising(package, rounding: rounding, boundary: boundary)
    try raising.defineInputs(inputShapes)
    for (index, operation) in package.program.operations.enumerated() {
        try raising.raise(operation, place: operation.place(index))
    }
    return try raising.model()
}
