import RetintGraph
import RetintMLPackage
import RetintTensors

/// The shapes of the values of a program that is being built from another format, which does not
/// state them: each operation is raised to a graph that is never run.
package final class ResultShapes {
    private let graph = Graph()
    private let values = RaisedValues(roundsToHalf: false)

    package init() {}

    /// Defines an input; its size must be known.
    package func define(input name: String, _ dataType: MILDataType, _ shape: [Int]) throws {
        guard Shape(shape).boundedCount != nil else {
            throw ConversionError(
                place: "input \(name)", rule: "a size of \(shape) is not supported",
                remedy: "Convert the network for smaller inputs.")
        }
        values.define(name, graph.input(name, Shape(shape)), dataType)
    }

    package func define(_ name: String, constant: MILValue) {
        values.define(name, constant: constant)
    }

    /// Finds the shapes of an operation's results.
    ///
    /// - Parameter names: takes the shapes, and returns the names by which later operations know
    ///   the results.
    /// - Throws: ``ConversionError`` if the operation is malformed or not supported.
    package func add(
        _ operation: MILOperation, place: String, named names: ([[Int]]) throws -> [String]
    ) throws {
        let raised = RaisedOperation(
            operation: operation, place: place, graph: graph, values: values)
        try raised.naming {
            let results = try raised.results()
            guard results.count == operation.outputs.count else {
                throw raised.error("it has \(results.count) results")
            }
            for result in results where result.shape.boundedCount == nil {
                throw raised.error("a result of \(result.shape) is not supported")
            }
            let names = try names(results.map(\.shape.dimensions))
            for (name, (result, output)) in zip(names, zip(results, operation.outputs)) {
                values.define(name, result, output.type.dataType)
            }
        }
    }
}
