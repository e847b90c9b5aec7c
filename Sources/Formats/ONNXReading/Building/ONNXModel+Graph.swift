import RetintGraph
import RetintLayers
import RetintTensors

extension ONNXModel {
    /// The role of an initializer in the network, unless it is a constant.
    package enum Role: Hashable, Sendable {
        /// Learned: a weight, a bias or a gain.
        case parameter
        /// A running statistic.
        case buffer
    }

    /// The roles of all float initializers that are not constants, determined by the nodes that use
    /// them.
    package var roles: [String: Role] {
        var roles: [String: Role] = [:]
        for node in nodes {
            guard let rule = OperationForms.rules[node.operation] else { continue }
            for (index, name) in node.inputs.enumerated() {
                guard let tensor = initializers[name], tensor.type.isFloat, tensor.count > 0,
                    !constants.contains(name)
                else { continue }
                if rule.parameters.contains(index), rule.learnsScalars || tensor.count > 1 {
                    roles[name] = .parameter
                } else if rule.buffers.contains(index) {
                    roles[name] = roles[name] ?? .buffer
                }
            }
        }
        return roles
    }

    /// Adds the network to a graph.
    ///
    /// Weights become variables under their names. Values that depend only on shapes and constants
    /// are computed immediately, and do not appear in the graph.
    ///
    /// - Parameter inputs: values for the network's inputs, by name.
    /// - Returns: the network's outputs, in order.
    /// - Throws: ``ONNXError`` that names the first node that does not fit.
    package func build(
        in graph: Graph, inputs: [String: ONNXValue]
    ) throws -> [(name: String, value: ONNXValue)] {
        let building = GraphBuilding(self, graph)
        for input in inputs { building.values[input.key] = input.value }
        for node in nodes { try building.add(node) }
        return try outputs.map { ($0.name, try building.value(of: $0.name)) }
    }
}

/// The values of a network while its graph is built.
final class GraphBuilding {
    var values: [String: ONNXValue] = [:]
    private let graph: Graph
    private let opset: Int
    private let budget: HostBudget
    /// The limit for values computed on the host, in addition to the size of the network's
    /// constants.
    private static let hostElements = 1 << 24

    init(_ model: ONNXModel, _ graph: Graph) {
        (self.graph, opset) = (graph, model.opset)
        let roles = model.roles
        var stored = 0
        // The order of the variables is that of the nodes that use them, the same each time.
        let used = model.namedParameters.map(\.name)
        for name in used + Set(model.initializers.keys).subtracting(used).sorted() {
            guard let tensor = model.initializers[name] else { continue }
            switch roles[name] {
            case .parameter, .buffer:
                let role: Variable.Role = roles[name] == .buffer ? .buffer : .parameter
                let variable = graph.variable(name, tensor.shape, role: role)
                values[name] = .tensor(variable, tensor.type)
            default: values[name] = .host(tensor)
            }
            stored += tensor.elements == nil ? 0 : tensor.count
        }
        budget = HostBudget(Self.hostElements + 8 * min(stored, 1 << 40))
    }

    func value(of name: String) throws -> ONNXValue {
        guard let value = values[name] else {
            throw ONNXError(place: "value \(name.quoted)", rule: "it has no value")
        }
        return value
    }

    func add(_ node: ONNXNode) throws {
        guard let rule = OperationForms.rules[node.operation] else {
            throw ONNXError(
                place: node.place, rule: "the operation is not supported",
                remedy: ONNXError.unsupported)
        }
        let context = NodeContext(
            node: node, opset: opset, graph: graph,
            inputs: try node.inputs.map { $0.isEmpty ? nil : try value(of: $0) }, budget: budget)
        let hadError = graph.error != nil
        let results: [ONNXValue]
        do {
            results = try graph.inModule(node.module) { try rule.translate(context) }
        } catch let error as ShapeError {
            throw ONNXError(place: node.place, rule: error.reason)
        }
        if let error = graph.error, !hadError {
            let shapes = error.inputShapes.map(\.description).joined(separator: ", ")
            throw ONNXError(place: node.place, rule: "\(error.reason) (inputs: \(shapes))")
        }
        for (index, output) in node.outputs.enumerated() where !output.isEmpty {
            guard index < results.count else {
                throw context.error("its output \(index) is not supported")
            }
            values[output] = results[index]
        }
    }
}
