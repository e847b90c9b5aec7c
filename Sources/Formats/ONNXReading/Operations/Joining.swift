import RetintGraph
import RetintTensors

/// Tensors joined, cut apart and repeated.
enum Joining: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Concat": OperationRule(parameters: Set(0..<64), concatenation),
        "Split": OperationRule(split),
        "Expand": OperationRule(parameters: [0]) { node in
            let value = try node.value(0)
            let dimensions = try node.common(value.dimensions, try node.integers(1))
            return [try expanded(value, to: dimensions, node)]
        },
        "Tile": OperationRule(parameters: [0], tile),
    ]

    @Sendable private static func concatenation(_ node: NodeContext) throws -> [ONNXValue] {
        var values = try node.values()
        let rank = values[0].dimensions.count
        let axis = try node.axis(try node.integer("axis", default: 1), rank: rank)
        if let joined = try hostConcatenation(values, axis, node) { return [.host(joined)] }
        // Empty parts have no tensor in the graph, and add nothing.
        values.removeAll { $0.dimensions.contains(0) }
        guard !values.isEmpty else { throw node.error("it joins empty tensors") }
        return [.tensor(concat(try values.map(node.tensor), axis: axis), values[0].type)]
    }

    private static func hostConcatenation(
        _ values: [ONNXValue], _ axis: Int, _ node: NodeContext
    ) throws -> ONNXTensor? {
        var parts: [ONNXTensor] = []
        for value in values {
            guard case .host(let tensor) = value, tensor.elements != nil else { return nil }
            parts.append(tensor)
        }
        var dimensions = parts[0].dimensions
        dimensions[axis] = 0
        for part in parts {
            guard part.rank == dimensions.count, part.type.isFloat == parts[0].type.isFloat else {
                throw node.error("it joins tensors of different ranks or types", ONNXError.damaged)
            }
            dimensions[axis] += part.dimensions[axis]
            var others = (part.dimensions, dimensions)
            (others.0[axis], others.1[axis]) = (0, 0)
            guard others.0 == others.1 else {
                throw node.error("it joins tensors of different shapes", ONNXError.damaged)
            }
        }
        try node.takeHost(dimensions)
        guard !dimensions.contains(0) else { return parts[0].gathered([], dimensions) }
        // Row by row of the axes before the joined one.
        let rows = dimensions[..<axis].reduce(1, *)
        var (floats, integers): ([Float], [Int64]) = ([], [])
        for row in 0..<rows {
            for part in parts where part.count > 0 {
                let length = part.count / rows
                let range = row * length..<(row + 1) * length
                switch part.elements {
                case .float32(let values): floats += values[range]
                case .int64(let values): integers += values[range]
                case nil: break
                }
            }
        }
        return ONNXTensor(
            parts[0].type, dimensions,
            parts[0].type.isFloat ? .float32(floats) : .int64(integers))
    }

    @Sendable private static func split(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let dimensions = value.dimensions
        let axis = try node.axis(try node.integer("axis", default: 0), rank: dimensions.count)
        let sizes = try node.integers(1, or: "split") ?? equalParts(dimensions[axis], node)
        guard sizes.count == node.node.outputs.count,
            sizes.allSatisfy({ (0...dimensions[axis]).contains($0) }),
            sizes.reduce(0, +) == dimensions[axis]
        else {
            throw node.error(
                "parts of \(sizes.prefix(8)) do not make up \(dimensions[axis]) elements",
                ONNXError.damaged)
        }
        var start = 0
        return try sizes.map { size in
            defer { start += size }
            return try Slicing.slice(value, axis: axis, from: start, count: size, step: 1, node)
        }
    }

    /// The last part is smaller if the elements do not divide evenly.
    private static func equalParts(_ count: Int, _ node: NodeContext) throws -> [Int] {
        let parts = node.node.outputs.count
        let size = (count + parts - 1) / parts
        return (0..<parts).map { Swift.max(0, Swift.min(size, count - $0 * size)) }
    }

    /// Large tensors of floats are repeated by the graph, which needs no memory for them here.
    static func expanded(
        _ value: ONNXValue, to dimensions: [Int], _ node: NodeContext
    ) throws -> ONNXValue {
        let count = try node.count(dimensions)
        if case .host(let tensor) = value, tensor.elements != nil,
            !tensor.type.isFloat || count <= Swift.max(1 << 12, tensor.count)
        {
            try node.takeHost(dimensions)
            return .host(tensor.broadcast(to: dimensions))
        }
        return .tensor(try node.tensor(value).broadcast(to: Shape(dimensions)), value.type)
    }

    @Sendable private static func tile(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let (dimensions, repeats) = (value.dimensions, try node.integers(1))
        guard repeats.count == dimensions.count, repeats.allSatisfy({ $0 >= 1 }) else {
            throw node.error("repeats of \(repeats.prefix(8)) do not fit \(dimensions)")
        }
        let whole = try zip(dimensions, repeats).map { size, count in
            let (product, overflows) = size.multipliedReportingOverflow(by: count)
            guard !overflows else { throw node.error("its result is too large") }
            return product
        }
        _ = try node.count(whole)
        // Each repeated axis gets a new axis before it.
        let axes = dimensions.indices.filter { repeats[$0] > 1 }
        guard !axes.isEmpty else { return [value] }
        guard dimensions.count + axes.count <= Shape.maximumRank else {
            throw node.error("it repeats too many axes")
        }
        let single = dimensions.indices.flatMap {
            repeats[$0] > 1 ? [1, dimensions[$0]] : [dimensions[$0]]
        }
        let full = dimensions.indices.flatMap {
            repeats[$0] > 1 ? [repeats[$0], dimensions[$0]] : [dimensions[$0]]
        }
        let reshaped = try Shapes.reshaped(value, single, node)
        return [try Shapes.reshaped(expanded(reshaped, to: full, node), whole, node)]
    }
}
