import RetintGraph
import RetintTensors

extension Tensor {
    /// Computes this value right away: for debugging and tests, since it compiles a program for one
    /// run.
    ///
    /// - Parameters:
    ///   - inputs: a value for each input that this one depends on.
    ///   - variables: values of variables; the others are zeros.
    /// - Throws: ``GraphError`` as ``Program/init(outputs:observing:options:)`` and
    ///   ``Program/run(_:)`` do.
    public func evaluate(
        inputs: [String: TensorData] = [:], variables: [String: TensorData] = [:],
        options: CompileOptions = .init()
    ) throws(GraphError) -> TensorData {
        let program = try Program(outputs: [("value", self)], options: options)
        try program.load(variables)
        guard let value = try program.run(inputs)["value"] else {
            throw GraphError(operation: "evaluate", reason: "the program has no result")
        }
        return value
    }
}
