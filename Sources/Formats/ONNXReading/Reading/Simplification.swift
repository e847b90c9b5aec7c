import RetintGraph

extension ONNXModel {
    /// Removes nodes and initializers that no output depends on.
    mutating func prune() {
        var needed = Set(outputs.map(\.name))
        var live: [ONNXNode] = []
        for node in nodes.reversed() where node.outputs.contains(where: needed.contains) {
            needed.formUnion(node.inputs)
            // Inputs that are not given.
            needed.remove("")
            live.append(node)
        }
        nodes = live.reversed()
        initializers = initializers.filter { needed.contains($0.key) }
        constants.formIntersection(initializers.keys)
    }

    /// Whether a node's operation is supported.
    package static func supports(_ node: ONNXNode) -> Bool {
        node.domain.isEmpty
            && (OperationForms.rules[node.operation] != nil || node.operation == constant)
    }

    /// - Throws: ``ONNXError`` with all operations that are not supported, and the first node of
    ///   each.
    func checkOperations() throws {
        var unsupported: [(operation: String, node: String, count: Int)] = []
        var places: [String: Int] = [:]
        for node in nodes where !Self.supports(node) {
            let title = node.operationTitle
            if let place = places[title] {
                unsupported[place].count += 1
            } else {
                places[title] = unsupported.count
                unsupported.append((title, node.title.quoted, 1))
            }
        }
        guard !unsupported.isEmpty else { return }
        let list = unsupported.prefix(64).map { operation, node, count in
            "\(operation) (\(node)\(count > 1 ? " and \(count - 1) more" : ""))"
        }
        let subject =
            unsupported.count == 1 ? "1 operation is" : "\(unsupported.count) operations are"
        throw ONNXError(
            rule: "\(subject) not supported: " + list.joined(separator: ", "),
            remedy: nodes.contains { !$0.domain.isEmpty }
                ? "Export the network without functions, which have to be inlined, and without "
                    + "operations of other domains."
                : "Torch's other exporter may write supported ones: torch.onnx.export with the "
                    + "other value of dynamo, or for retint.export torch.jit.trace(module, "
                    + "inputs). Otherwise change the network.")
    }

    /// Makes `names` the outputs, in that order, and removes nodes that no output depends on.
    package mutating func keepOutputs(_ names: [String]) {
        outputs = names.compactMap { name in outputs.first { $0.name == name } }
        prune()
    }

    private static let constant = "Constant"

    /// Turns constants into initializers, and computes nodes that depend only on them, such as
    /// weights that are stored transposed, in 16 bits or quantized.
    mutating func simplify() throws {
        let building = GraphBuilding(
            ONNXModel(opset: opset, inputs: [], outputs: [], nodes: [], initializers: initializers),
            Graph())
        var folding = Folding(nodes, outputs)
        var left: [ONNXNode] = []
        for var node in nodes {
            node.inputs = node.inputs.map { folding.aliases[$0] ?? $0 }
            if node.operation == Self.constant {
                let tensor = try node.constantValue()
                define(node.outputs[0], tensor, building)
                constants.insert(node.outputs[0])
            } else if node.operation == "Identity", node.inputs.count == 1,
                node.outputs.count == 1, initializers[node.inputs[0]]?.isUniform == false
            {
                // Another name for one weight: two copies would be trained apart. PyTorch's
                // exporter also joins weights that merely are all zeros or all ones.
                folding.alias(node.outputs[0], of: node.inputs[0])
            } else if !(try fold(node, building, &folding)) {
                left.append(node)
            }
        }
        nodes = left
        for index in outputs.indices {
            guard let source = folding.aliases[outputs[index].name] else { continue }
            nodes.append(ONNXNode("Identity", [source], [outputs[index].name]))
        }
        prune()
    }

    private mutating func define(
        _ name: String, _ tensor: ONNXTensor, _ building: GraphBuilding
    ) {
        initializers[name] = tensor
        building.values[name] = .host(tensor)
    }

    /// Computes a node whose inputs are all constants; false if it is not one of those.
    private mutating func fold(
        _ node: ONNXNode, _ building: GraphBuilding, _ folding: inout Folding
    ) throws -> Bool {
        let isKnown = node.inputs.allSatisfy { name in
            name.isEmpty || initializers[name]?.elements != nil
        }
        guard isKnown, !node.inputs.isEmpty else { return false }
        try building.add(node)
        let results = node.outputs.compactMap { output -> (name: String, tensor: ONNXTensor)? in
            guard case .host(let tensor) = building.values[output] else { return nil }
            return (output, tensor)
        }
        guard results.count == node.outputs.count(where: { !$0.isEmpty }) else { return false }
        let learned = node.inputs.filter { !$0.isEmpty && !constants.contains($0) }
        let weights = learned.filter { initializers[$0]?.type.isFloat ?? false }
        if weights.count == 1, results.count == 1, folding.uses[weights[0]] == 1 {
            // A weight in another form keeps its name.
            if let weight = initializers[weights[0]] {
                weightForms[weights[0], default: WeightForm()]
                    .add(node, weight, results[0].tensor)
            }
            define(weights[0], results[0].tensor, building)
            folding.alias(results[0].name, of: weights[0])
            return true
        }
        for (name, tensor) in results {
            define(name, tensor, building)
            if learned.isEmpty { constants.insert(name) }
        }
        return true
    }
}

/// The renaming of values while a model is simplified.
private struct Folding {
    /// Values that are aliases, and what they stand for.
    private(set) var aliases: [String: String] = [:]
    /// The number of uses of a value by nodes and outputs.
    private(set) var uses: [String: Int] = [:]

    init(_ nodes: [ONNXNode], _ outputs: [ONNXValueInfo]) {
        for name in nodes.flatMap(\.inputs) + outputs.map(\.name) { uses[name, default: 0] += 1 }
    }

    mutating func alias(_ name: String, of original: String) {
        aliases[name] = original
        uses[original, default: 0] += uses[name, default: 0] - 1
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
            place: place, rule: "it is not a tensor of numbers", remedy: ONNXError.unsupported)
    }
}
