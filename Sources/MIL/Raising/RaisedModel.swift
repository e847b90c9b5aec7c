import MLPackage
import TensorGraph

/// A package as a graph that the engine can run.
package struct RaisedModel {
    package let graph: Graph
    package let inputs: [(name: String, shape: Shape)]
    package let outputs: [(name: String, value: Tensor)]
    /// The values of the graph's variables: the package's weights.
    package let variables: [String: TensorData]
    /// What the operations compute, in the program's order, without constants and operations that
    /// only rename or cast a value.
    package let results: [RaisedResult]
}

/// A value that an operation of a package computes.
package struct RaisedResult {
    /// The value's name in the program.
    package let name: String
    /// The module's path and the operation of the node that was exported as this value; nil where
    /// the package does not record it.
    package let node: String?
    /// The operation's MIL type: `conv`.
    package let operation: String
    package let value: Tensor
    /// The values that it is computed from, constants left out.
    package let inputs: [Tensor]
}

/// Which results are rounded to half precision, as float16 arithmetic does it: once for each
/// operation of the package, however many operations of the graph it becomes.
package enum HalfRounding: Hashable, Sendable {
    case none
    /// Those that the package declares as float16.
    case declared
    /// All, including inputs and constants.
    case every
}

/// What the graph computes between its own inputs and outputs and those of the program.
package struct RaisedBoundary {
    /// Refuses a shape that an input's program and interface would take.
    package var checkShape: (Shape, Feature) throws -> Void
    /// The program's input from the graph's.
    package var input: (Tensor) -> Tensor
    /// The graph's output from the program's.
    package var output: (Tensor) -> Tensor

    package init(
        checkShape: @escaping (Shape, Feature) throws -> Void = { _, _ in },
        input: @escaping (Tensor) -> Tensor = { $0 },
        output: @escaping (Tensor) -> Tensor = { $0 }
    ) {
        (self.checkShape, self.input, self.output) = (checkShape, input, output)
    }
}

/// Turns a package into a graph.
///
/// float16 values are held as float32.
///
/// - Parameters:
///   - inputShapes: shapes for inputs that take several; their default shape otherwise.
///   - rounding: which results the graph rounds to half precision.
///   - boundary: what the graph computes before and after the program.
/// - Throws: ``ConversionError`` with the operation or input that is not supported or inconsistent.
package func raise(
    _ package: MLPackage, inputShapes: [String: Shape] = [:], rounding: HalfRounding = .none,
    boundary: RaisedBoundary = RaisedBoundary()
) throws -> RaisedModel {
    let raising = ProgramRaising(package, rounding: rounding, boundary: boundary)
    try raising.defineInputs(inputShapes)
    for (index, operation) in package.program.operations.enumerated() {
        try raising.raise(operation, place: operation.place(index))
    }
    return try raising.model()
}
