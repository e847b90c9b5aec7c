import TensorGraph

extension ONNXModel {
    /// Removes nodes and initializers that no output depends on.
    mutating func prune() {
        var needed = Set(outputs.map(\.name))
        var live: [ONNXNode] = []
        for node in nodes.reversed() where node.outputs.contains(where: needed.contains) {
            needed.formUnion(node.inputs)
            live.append(node)
        }
        nodes = live.reversed()
        initializers = initializers.filter { needed.contains($0.key) }
    }

    /// Whether a node's operation is read.
    package static func supports(_ node: ONNXNode) -> Bool {
        node.domain.isEmpty
            && (ONNXOperations.rules[node.operation] != nil || node.operation == constant)
    }

    /// - Throws: ``ONNXError`` with all operations that are not supported, and the first node of
    ///   each.
    func checkOperations() throws {
        var unsupported: [(operation: String, node: String, count: Int)] = []
        for node in nodes where !Self.supports(node) {
            let title = node.operationTitle
            if let index = unsupported.firstIndex(where: { $0.operation == title }) {
                unsupported[index].count += 1
            } else {
                unsupported.append((title, node.title.debugDescription, 1))
            }
        }
        guard !unsupported.isEmpty else { return }
        let list = unsupported.prefix(64).map { operation, node, count in
            "\(operation) (\(node)\(count > 1 ? " and \(count - 1) more" : ""))"
        }
        throw ONNXError(
            rule: "\(unsupported.count) operations are not supported: "
                + list.joined(separator: ", "),
            remedy: "Export the network without them; functions have to be inlined.")
    }

    /// Makes `names` the outputs, in that order, and removes what none of them depends on.
    package mutating func keepOutputs(_ names: [String]) {
        outputs = names.compactMap { name in outputs.first { $0.name == name } }
        prune()
    }

    private static let constant = "Constant"

    /// Makes constants initializers, and computes what depends on them alone, as weights that are
    /// stored transposed, in 16 bits or quantized.
    mutating func simplify() throws {
        let building = GraphBuilding(
            ONNXModel(opset: opset, inputs: [], outputs: [], nodes: [], initializers: initializers),
            Graph())
        var left: [ONNXNode] = []
        var aliases: [String: String] = [:]
        for var node in nodes {
            node.inputs = node.inputs.map { aliases[$0] ?? $0 }
            if node.operation == Self.constant {
                initializers[node.outputs[0]] = try node.constantValue()
                building.values[node.outputs[0]] = initializers[node.outputs[0]].map { .host($0) }
            } else if node.operation == "Identity", node.inputs.count == 1,
                node.outputs.count == 1, initializers[node.inputs[0]] != nil
            {
                // Another name for one weight: two copies would be trained apart.
                aliases[node.outputs[0]] = node.inputs[0]
            } else if !(try fold(node, building)) {
                left.append(node)
            }
        }
        nodes = left
        for index in outputs.indices where aliases[outputs[index].name] != nil {
            nodes.append(
                ONNXNode("Identity", [aliases[outputs[index].name]!], [outputs[index].name]))
        }
        prune()
    }

    /// Computes a node whose inputs are all constants; false if it is not one of those.
    private mutating func fold(_ node: ONNXNode, _ building: GraphBuilding) throws -> Bool {
        let isConstant = node.inputs.allSatisfy { name in
            name.isEmpty || initializers[name]?.elements != nil
        }
        guard isConstant, !node.inputs.isEmpty else { return false }
        try building.add(node)
        for output in node.outputs where !output.isEmpty {
            guard case .host = building.values[output] else { return false }
        }
        for output in node.outputs where !output.isEmpty {
            if case .host(let tensor) = building.values[output] { initializers[output] = tensor }
        }
        return true
    }
}

extension ONNXNode {
    /// `Conv`, or `com.microsoft::FusedConv` of another domain.
    package var operationTitle: String {
        ((domain.isEmpty ? [] : [domain]) + [operation]).map(\.plain).joined(separator: "::")
    }

    /// The value of a node Constant.
    fileprivate func constantValue() throws -> ONNXTensor {
        for (name, value) in attributes {
            switch (name, value) {
            case ("value", .tensor(let tensor)): return tensor
            case ("value_float", .float(let value)):
                return ONNXTensor(floats: [value], dimensions: [])
            case ("value_floats", .floats(let values)):
                return ONNXTensor(floats: values, dimensions: [values.count])
            case ("value_int", .integer(let value)):
                return ONNXTensor(integers: [value]).reshaped([])
            case ("value_ints", .integers(let values)): return ONNXTensor(integers: values)
            default: continue
            }
        }
        throw ONNXError(
            place: place, rule: "it holds no tensor of numbers", remedy: ONNXError.unsupported)
    }
}
