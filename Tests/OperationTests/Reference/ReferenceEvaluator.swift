import RetintGraph
import RetintOperationCases
import RetintTensors

/// The values of inputs and variables by name.
struct ReferenceFeeds {
    var inputs: [String: [Double]] = [:]
    var variables: [String: [Double]] = [:]
}

struct ReferenceError: Error, CustomStringConvertible {
    let description: String
}

/// Evaluates any graph in double precision, one node after another, slowly and plainly.
struct ReferenceEvaluator {
    var feeds: ReferenceFeeds

    init(inputs: [String: [Double]] = [:], variables: [String: [Double]] = [:]) {
        feeds = ReferenceFeeds(inputs: inputs, variables: variables)
    }

    /// The values of `tensors`, which belong to one graph.
    func evaluate(_ tensors: [Tensor]) throws -> [ReferenceArray] {
        guard let graph = tensors.first?.graph else { return [] }
        try graph.validate()
        var values: [Int: ReferenceArray] = [:]
        for id in graph.live(from: tensors.map(\.id)) {
            let node = graph.nodes[id]
            values[id] = try evaluate(node, node.inputs.map { values[$0]! })
        }
        return tensors.map { values[$0.id]! }
    }

    func evaluate(_ tensor: Tensor) throws -> ReferenceArray { try evaluate([tensor])[0] }

    private func evaluate(_ node: Graph.Node, _ inputs: [ReferenceArray]) throws -> ReferenceArray {
        let values: [Double]
        switch node.operation {
        case let source as any ReferenceSource:
            guard let found = source.values(from: feeds) else {
                throw ReferenceError(description: "no values for \(source)")
            }
            values = found
        case let operation as any ReferenceOperation:
            values = operation.reference(inputs, shape: node.shape)
        case let operation where OperationTable.references[operation.name] != nil:
            values = elementwise(operation, inputs, shape: node.shape)
        default:
            throw ReferenceError(description: "\(node.operation.name) has no reference")
        }
        guard values.count == node.shape.count else {
            throw ReferenceError(
                description: "\(node.operation.name): \(values.count) values for \(node.shape)")
        }
        return ReferenceArray(shape: node.shape, values: values)
    }
}

extension ReferenceEvaluator {
    /// The elements of an elementwise operation whose line in the table states what it computes.
    private func elementwise(
        _ operation: any RetintGraph.Operation, _ inputs: [ReferenceArray], shape: Shape
    ) -> [Double] {
        guard let reference = OperationTable.references[operation.name] else { return [] }
        let operands = inputs.map { repeated($0, to: shape) }
        return (0..<shape.count).map { index in
            reference.value(operation, operands.map { $0[index] })
        }
    }
}

extension Input: ReferenceSource {
    func values(from feeds: ReferenceFeeds) -> [Double]? { feeds.inputs[inputName] }
}

extension Variable: ReferenceSource {
    func values(from feeds: ReferenceFeeds) -> [Double]? { feeds.variables[variableName] }
}

extension Constant: ReferenceSource {
    func values(from feeds: ReferenceFeeds) -> [Double]? { data.scalars.map(Double.init) }
}
