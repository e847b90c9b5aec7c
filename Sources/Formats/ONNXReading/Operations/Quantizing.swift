import RetintGraph
import RetintTensorFiles
import RetintTensors

/// Integers that represent floats: a scale and a zero point for all elements, for each slice along
/// an axis, or for each block of one.
enum Quantizing: OperationFamily {
    static let rules: [String: OperationRule] = [
        "DequantizeLinear": OperationRule(dequantized),
        "QuantizeLinear": OperationRule(quantized),
    ]

    @Sendable private static func dequantized(_ node: NodeContext) throws -> [ONNXValue] {
        let (value, scale) = (try node.value(0), try node.value(1))
        if case .host(let codes) = value, case .host(let steps) = scale, steps.elements != nil,
            codes.elements != nil
        {
            let zero = try node.optionalConstant(2)
            try node.takeHost(codes.dimensions)
            let position = try placing(codes.dimensions, steps.dimensions, node)
            let (integers, factors) = (codes.floats ?? [], steps.floats ?? [])
            let zeros = zero?.floats
            guard zeros.map({ $0.count == factors.count }) ?? true else {
                throw node.error("the numbers of scales and zero points differ", ONNXError.damaged)
            }
            let floats = integers.indices.map { index in
                let slice = position(index)
                return (integers[index] - (zeros?[slice] ?? 0)) * factors[slice]
            }
            return [.host(ONNXTensor(floats: floats, dimensions: codes.dimensions))]
        }
        let x = try node.tensor(0)
        let steps = try aligned(node.tensor(1), x, node)
        guard let zero = try node.optionalTensor(2) else { return [.tensor(x * steps, .float)] }
        return [.tensor((x - (try aligned(zero, x, node))) * steps, .float)]
    }

    @Sendable private static func quantized(_ node: NodeContext) throws -> [ONNXValue] {
        let x = try node.tensor(0)
        let stated = try node.integer("output_dtype", default: 0)
        let type =
            node.optional(2)?.type ?? Int32(exactly: stated)
            .flatMap(ONNXElementType.init(rawValue:)) ?? .uint8
        guard let range = type.range, range.upperBound <= 65535 else {
            throw node.error("quantizing to \(type) is not supported")
        }
        let codes = round(x / (try aligned(node.tensor(1), x, node)))
        let zero = try node.optionalTensor(2)
        let shifted = try zero.map { codes + (try aligned($0, x, node)) } ?? codes
        let limited = clip(
            shifted, min: Float(range.lowerBound), max: Float(range.upperBound))
        return [.tensor(limited, type)]
    }

    /// The position among the scales for each element of a constant.
    private static func placing(
        _ dimensions: [Int], _ scales: [Int], _ node: NodeContext
    ) throws -> (Int) -> Int {
        let count = scales.reduce(1, *)
        if count == 1 { return { _ in 0 } }
        let axis = try node.axis(try node.integer("axis", default: 1), rank: dimensions.count)
        let inner = dimensions[(axis + 1)...].reduce(1, *)
        let extent = dimensions[axis]
        if scales.count == 1, count == extent { return { $0 / inner % extent } }
        let block = try node.integer("block_size", default: 0)
        var expected = dimensions
        if block > 0 { expected[axis] = extent / block + (extent % block > 0 ? 1 : 0) }
        guard block > 0, expected == scales else {
            throw node.error("\(scales) scales do not fit \(dimensions)", ONNXError.damaged)
        }
        return { index in
            let (outer, rest) = (index / (inner * extent), index % (inner * extent))
            return (outer * expected[axis] + rest / inner / block) * inner + rest % inner
        }
    }

    /// One scale or zero point, or one for each slice along the axis, so that it broadcasts.
    private static func aligned(
        _ vector: Tensor, _ x: Tensor, _ node: NodeContext
    ) throws -> Tensor {
        guard vector.shape.count > 1 else { return vector.reshaped(.scalar) }
        let axis = try node.axis(try node.integer("axis", default: 1), rank: x.shape.rank)
        guard vector.shape == [x.shape[axis]] else {
            throw node.error("scales of \(vector.shape) do not fit \(x.shape)")
        }
        var shape = [Int](repeating: 1, count: x.shape.rank)
        shape[axis] = x.shape[axis]
        return vector.reshaped(Shape(shape))
    }
}
