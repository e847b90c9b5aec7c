import RetintGraph
import RetintLayers
import RetintTensors

/// A value while a graph is built: known on the host, such as shapes, or computed by the graph.
package enum ONNXValue {
    case host(ONNXTensor)
    /// A value of the graph, whose elements are floats: bools are 0 and 1, and small integers are
    /// exact.
    case tensor(Tensor, ONNXElementType)

    package var type: ONNXElementType {
        switch self {
        case .host(let tensor): tensor.type
        case .tensor(_, let type): type
        }
    }

    package var dimensions: [Int] {
        switch self {
        case .host(let tensor): tensor.dimensions
        case .tensor(let tensor, _): tensor.shape.dimensions
        }
    }
}

/// Limits the elements computed on the host, so that a small file cannot exhaust memory.
final class HostBudget {
    private var left: Int

    init(_ elements: Int) { left = elements }

    func take(_ count: Int) throws(ShapeError) {
        guard count <= left else {
            throw ShapeError("it makes the constants of the network too large")
        }
        left -= count
    }
}

/// A node that is being translated, with access to its inputs and attributes.
struct NodeContext {
    let node: ONNXNode
    let opset: Int
    let graph: Graph
    /// Nil for omitted optional inputs.
    let inputs: [ONNXValue?]
    let budget: HostBudget

    func error(_ rule: String, _ remedy: String = ONNXError.unsupported) -> ONNXError {
        ONNXError(place: node.place, rule: rule, remedy: remedy)
    }

    // MARK: Inputs

    func optional(_ index: Int) -> ONNXValue? { index < inputs.count ? inputs[index] : nil }

    func value(_ index: Int) throws -> ONNXValue {
        guard let value = optional(index) else {
            throw error("its input \(index) is missing", ONNXError.damaged)
        }
        return value
    }

    /// All inputs, which must be present; at least one.
    func values() throws -> [ONNXValue] {
        guard !inputs.isEmpty else { throw error("it has no inputs", ONNXError.damaged) }
        return try inputs.indices.map(value)
    }

    /// An input as a value of the graph; constants become constants of the graph.
    func tensor(_ index: Int) throws -> Tensor { try tensor(value(index)) }

    func optionalTensor(_ index: Int) throws -> Tensor? { try optional(index).map(tensor) }

    func tensor(_ value: ONNXValue) throws -> Tensor {
        switch value {
        case .tensor(let tensor, _): return tensor
        case .host(let constant):
            guard let floats = constant.floats, constant.count > 0 else {
                throw error("it computes with an empty tensor")
            }
            // The graph looks for an equal constant, which takes as long as a copy.
            try budget.take(constant.count)
            return graph.constant(TensorData(shape: constant.shape, scalars: floats))
        }
    }

    /// An input as the weight of a layer, rounded if the graph trains for quantized weights.
    func weight(_ index: Int, outputAxis: Int) throws -> Tensor {
        let weight = try tensor(index)
        guard (weight.operation as? Variable)?.role == .parameter else { return weight }
        return weight.roundedAsWeight(outputAxis: outputAxis)
    }

    /// An input of a layer, rounded if the graph rounds inputs.
    ///
    /// - Parameter weight: the index of the layer's weight.
    func input(_ index: Int, ofWeight weight: Int) throws -> Tensor {
        let (input, weight) = (try tensor(index), try tensor(weight).operation as? Variable)
        guard let weight, weight.role == .parameter else { return input }
        return input.roundedAsInput(of: weight.variableName)
    }

    /// An input that must be known while the graph is built.
    func constant(_ index: Int) throws -> ONNXTensor {
        guard case .host(let tensor) = try value(index), tensor.elements != nil else {
            throw error(
                "its input \(index) (\(node.inputs[index].quoted)) depends on the "
                    + "network's input; it has to be constant or computed from shapes",
                "Export the network with that value fixed.")
        }
        return tensor
    }

    /// Whether an input is known while the graph is built.
    func isConstant(_ index: Int) -> Bool {
        if case .host(let tensor)? = optional(index) { tensor.elements != nil } else { false }
    }

    func optionalConstant(_ index: Int) throws -> ONNXTensor? {
        try optional(index).map { _ in try constant(index) }
    }

    /// A constant input of integers.
    func integers(_ index: Int) throws -> [Int] {
        guard let integers = try constant(index).integers else {
            throw error("its input \(index) has to be of integers", ONNXError.damaged)
        }
        return integers
    }

    /// A constant input of one number.
    func number(_ index: Int) throws -> Float {
        let values = try constant(index).floats ?? []
        guard values.count == 1 else {
            throw error("its input \(index) has to be one number", ONNXError.damaged)
        }
        return values[0]
    }

    /// A constant input of one integer.
    func integer(_ index: Int) throws -> Int {
        let values = try integers(index)
        guard values.count == 1 else {
            throw error("its input \(index) has to be one number", ONNXError.damaged)
        }
        return values[0]
    }

    /// Integers from an input, or from its attribute in older opsets; nil if neither is there.
    func integers(_ index: Int, or attribute: String) throws -> [Int]? {
        if optional(index) != nil { return try integers(index) }
        return try integers(attribute)
    }

    // MARK: Attributes

    /// A number that counts things, such as groups or the pixels of a block.
    func count(_ attribute: String, default value: Int) throws -> Int {
        let count = try integer(attribute, default: value)
        guard (1...Shape.maximumExtent).contains(count) else {
            throw error("its attribute \(attribute) is \(count)", ONNXError.damaged)
        }
        return count
    }

    func has(_ attribute: String) -> Bool { node.attributes[attribute] != nil }

    func integer(_ attribute: String, default value: Int) throws -> Int {
        switch node.attributes[attribute] {
        case .integer(let value): return value
        case nil: return value
        default: throw wrong(attribute)
        }
    }

    func flag(_ attribute: String, default value: Bool = false) throws -> Bool {
        try integer(attribute, default: value ? 1 : 0) != 0
    }

    func integers(_ attribute: String) throws -> [Int]? {
        switch node.attributes[attribute] {
        case .integers(let values): return values
        case nil: return nil
        default: throw wrong(attribute)
        }
    }

    func float(_ attribute: String, default value: Float) throws -> Float {
        switch node.attributes[attribute] {
        case .float(let value): return value
        case nil: return value
        default: throw wrong(attribute)
        }
    }

    func string(_ attribute: String, default value: String) throws -> String {
        switch node.attributes[attribute] {
        case .string(let text): return text
        case nil: return value
        default: throw wrong(attribute)
        }
    }

    func strings(_ attribute: String) throws -> [String]? {
        switch node.attributes[attribute] {
        case .strings(let texts): return texts
        case nil: return nil
        default: throw wrong(attribute)
        }
    }

    private func wrong(_ attribute: String) -> ONNXError {
        error("its attribute \(attribute) is of another type", ONNXError.damaged)
    }

    /// An axis in 0..<rank; negative ones count from the end. A scalar has none.
    func axis(_ axis: Int, rank: Int) throws -> Int {
        guard (-rank..<rank).contains(axis) else {
            throw error("axis \(axis) is out of range for rank \(rank)", ONNXError.damaged)
        }
        return axis < 0 ? axis + rank : axis
    }

    /// A position in 0..<size; negative indices count from the end.
    func position(_ index: Int, of size: Int) throws -> Int {
        guard (-size..<size).contains(index) else {
            throw error("index \(index) is out of range for \(size)", ONNXError.damaged)
        }
        return index < 0 ? index + size : index
    }

    /// Different axes in 0..<rank.
    func axes(_ axes: [Int], rank: Int) throws -> [Int] {
        let result = try axes.map { try axis($0, rank: rank) }
        guard Set(result).count == result.count else {
            throw error("an axis is named twice", ONNXError.damaged)
        }
        return result
    }

    /// The product of extents, checked against the limits of a value.
    func count(_ dimensions: [Int]) throws -> Int {
        try checkedCount(
            dimensions.map { Int64($0) }, at: node.place, limit: Shape.maximumCount)
    }

    /// Throws if a constant of this shape is too large to be computed on the host.
    func takeHost(_ dimensions: [Int]) throws { try budget.take(count(dimensions)) }

    /// Refuses further outputs, which only some operations have.
    func requireOneOutput() throws {
        guard node.outputs.dropFirst().allSatisfy(\.isEmpty) else {
            guard node.operation == "BatchNormalization" else {
                throw error("only its first output is supported")
            }
            throw error(
                "it was exported in training mode, in which it has further outputs",
                "Call network.eval() before the export.")
        }
    }
}
