import RetintGraph

/// Computation on the host.
extension ONNXTensor {
    /// The positions of a strided view of row-major elements, in its own row-major order.
    static func positions(_ dimensions: [Int], strides: [Int], offset: Int = 0) -> [Int] {
        guard dimensions.allSatisfy({ $0 > 0 }) else { return [] }
        var positions = [offset]
        for (extent, stride) in zip(dimensions, strides) {
            positions = positions.flatMap { position in (0..<extent).map { position + $0 * stride }
            }
        }
        return positions
    }

    /// This tensor with its axes in another order: axis `i` of the result is axis `order[i]`.
    ///
    /// - Precondition: `order` has each axis once.
    func transposed(by order: [Int]) -> ONNXTensor {
        let (dimensions, strides) = (order.map { self.dimensions[$0] }, shape.strides)
        let positions = Self.positions(dimensions, strides: order.map { strides[$0] })
        return gathered(positions, dimensions)
    }

    /// This tensor repeated along axes of extent 1 and new ones.
    ///
    /// - Precondition: the shape can be broadcast to `dimensions`.
    func broadcast(to dimensions: [Int]) -> ONNXTensor {
        guard dimensions != self.dimensions else { return self }
        let added = dimensions.count - rank
        let own = shape.strides
        let strides = dimensions.indices.map { axis in
            axis < added || self.dimensions[axis - added] == 1 ? 0 : own[axis - added]
        }
        return gathered(Self.positions(dimensions, strides: strides), dimensions)
    }

    /// Applies functions of two values to the elements of two tensors of one shape, both of floats
    /// or both of integers.
    ///
    /// - Parameter type: the type of the result.
    func combined(
        _ other: ONNXTensor, as type: ONNXElementType,
        _ floats: (Float, Float) -> Float, _ integers: (Int64, Int64) throws -> Int64
    ) rethrows -> ONNXTensor {
        switch (elements, other.elements) {
        case (.int64(let a), .int64(let b)):
            return ONNXTensor(
                type, dimensions, .int64(try zip(a, b).map { try integers($0, $1) }))
        default:
            let values = zip(self.floats ?? [], other.floats ?? []).map { floats($0, $1) }
            return ONNXTensor(
                type, dimensions,
                type.isFloat ? .float32(values) : .int64(values.map { Int64($0) }))
        }
    }
}

extension NodeContext {
    /// Both operands broadcast to their common shape if both are known on the host.
    func hostPair(_ a: ONNXValue, _ b: ONNXValue) throws -> (ONNXTensor, ONNXTensor)? {
        guard case .host(let x) = a, case .host(let y) = b, x.elements != nil, y.elements != nil
        else { return nil }
        guard x.type.isFloat == y.type.isFloat else {
            throw error("\(x.type) meets \(y.type)", ONNXError.damaged)
        }
        let dimensions = try common(x.dimensions, y.dimensions)
        try takeHost(dimensions)
        return (x.broadcast(to: dimensions), y.broadcast(to: dimensions))
    }

    /// The shape that two shapes are broadcast to.
    func common(_ a: [Int], _ b: [Int]) throws -> [Int] {
        let rank = max(a.count, b.count)
        let (x, y) = (Self.aligned(a, rank), Self.aligned(b, rank))
        return try zip(x, y).map { first, second in
            guard first == second || first == 1 || second == 1 else {
                throw error("shapes \(a) and \(b) cannot be broadcast together", ONNXError.damaged)
            }
            return first == 1 ? second : first
        }
    }

    private static func aligned(_ dimensions: [Int], _ rank: Int) -> [Int] {
        [Int](repeating: 1, count: rank - dimensions.count) + dimensions
    }
}
