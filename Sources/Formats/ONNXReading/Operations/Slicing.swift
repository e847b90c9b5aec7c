import RetintGraph
import RetintTensorFiles
import RetintTensors

/// Parts of tensors.
enum Slicing: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Slice": OperationRule(slices),
        "Gather": OperationRule(parameters: [0], gather),
    ]

    @Sendable private static func slices(_ node: NodeContext) throws -> [ONNXValue] {
        var value = try node.value(0)
        guard let starts = try node.integers(1, or: "starts"),
            let ends = try node.integers(2, or: "ends")
        else { throw node.error("it has no starts or ends", ONNXError.damaged) }
        let rank = value.dimensions.count
        let axes = try node.axes(
            try node.integers(3, or: "axes") ?? Array(0..<starts.count), rank: rank)
        let steps =
            try node.optional(4).map { _ in try node.integers(4) }
            ?? starts.map { _ in 1 }
        guard starts.count == ends.count, axes.count == starts.count, steps.count == starts.count,
            steps.allSatisfy({ $0 != 0 && $0 > -(1 << 40) })
        else { throw node.error("its starts, ends, axes and steps do not agree") }
        for index in axes.indices {
            let size = value.dimensions[axes[index]]
            let (start, count) = range(starts[index], ends[index], steps[index], size)
            value = try slice(
                value, axis: axes[index], from: start, count: count, step: steps[index], node)
        }
        return [value]
    }

    /// The first position and the number of elements, by numpy's rules.
    private static func range(
        _ start: Int, _ end: Int, _ step: Int, _ size: Int
    ) -> (start: Int, count: Int) {
        func position(_ index: Int, _ low: Int, _ high: Int) -> Int {
            Swift.min(Swift.max(index < 0 ? index + size : index, low), high)
        }
        if step > 0 {
            let (first, last) = (position(start, 0, size), position(end, 0, size))
            return (first, last > first ? (last - first - 1) / step + 1 : 0)
        }
        let (first, last) = (position(start, -1, size - 1), position(end, -1, size - 1))
        return (first, first > last ? (first - last - 1) / -step + 1 : 0)
    }

    /// `count` elements of an axis from `start` on, every `step`-th; backward if that is negative.
    static func slice(
        _ value: ONNXValue, axis: Int, from start: Int, count: Int, step: Int, _ node: NodeContext
    ) throws -> ONNXValue {
        var dimensions = value.dimensions
        if start == 0, count == dimensions[axis], step == 1 { return value }
        dimensions[axis] = count
        if case .host(let tensor) = value, tensor.elements != nil {
            try node.takeHost(dimensions)
            var strides = tensor.shape.strides
            let offset = start * strides[axis]
            // A stride is used only where there is a second element, inside the tensor.
            strides[axis] = count > 1 ? strides[axis] * step : 0
            return .host(
                tensor.gathered(
                    ONNXTensor.positions(dimensions, strides: strides, offset: offset), dimensions))
        }
        guard count > 0 else {
            // It is empty, which the graph has no value for.
            return .host(ONNXTensor(floats: [], dimensions: dimensions, type: value.type))
        }
        let x = try node.tensor(value)
        guard step > 0 else {
            guard count <= Picking.maximumCount else {
                throw node.error("reversing over \(Picking.maximumCount) elements is not supported")
            }
            return .tensor(
                x.picked((0..<count).map { start + $0 * (count > 1 ? step : 0) }, axis: axis),
                value.type)
        }
        let stride = count > 1 ? step : 1
        var (begin, end) = ([Int](repeating: 0, count: dimensions.count), x.shape.dimensions)
        var strides = [Int](repeating: 1, count: dimensions.count)
        (begin[axis], end[axis]) = (start, start + (count - 1) * stride + 1)
        strides[axis] = stride
        return .tensor(x.sliced(from: begin, to: end, stride: strides), value.type)
    }

    /// Elements at constant or computed indices.
    @Sendable private static func gather(_ node: NodeContext) throws -> [ONNXValue] {
        guard node.isConstant(1) else { return [try computedGather(node)] }
        let (value, indices) = (try node.value(0), try node.constant(1))
        let rank = value.dimensions.count
        let axis = try node.axis(try node.integer("axis", default: 0), rank: rank)
        guard rank + indices.rank - 1 <= Shape.maximumRank else {
            throw node.error("rank \(rank) and indices of rank \(indices.rank) do not fit")
        }
        let size = value.dimensions[axis]
        let positions = try node.integers(1).map { try node.position($0, of: size) }
        var dimensions = value.dimensions
        dimensions.replaceSubrange(axis...axis, with: indices.dimensions)
        return [try gathered(value, axis: axis, positions, dimensions, node)]
    }

    private static func computedGather(_ node: NodeContext) throws -> ONNXValue {
        let (x, indices) = (try node.tensor(0), try node.tensor(1))
        let axis = try node.axis(try node.integer("axis", default: 0), rank: x.shape.rank)
        guard x.shape.rank + indices.shape.rank - 1 <= Shape.maximumRank else {
            throw node.error("rank \(x.shape.rank) and indices of \(indices.shape) do not fit")
        }
        return .tensor(indexSelect(x, axis: axis, indices: indices), try node.value(0).type)
    }

    /// The elements of an axis at some positions, in a new shape.
    static func gathered(
        _ value: ONNXValue, axis: Int, _ positions: [Int], _ dimensions: [Int], _ node: NodeContext
    ) throws -> ONNXValue {
        if case .host(let tensor) = value, tensor.elements != nil {
            return .host(try gathered(tensor, axis, positions, dimensions, node))
        }
        guard !positions.isEmpty else { throw node.error("it has no indices") }
        _ = try node.count(dimensions)
        let jumps = zip(positions, positions.dropFirst()).count { $0 + 1 != $1 }
        let x = try node.tensor(value)
        guard jumps < Picking.maximumCount else {
            let indices = TensorData(shape: [positions.count], scalars: positions.map(Float.init))
            let picked = indexSelect(x, axis: axis, indices: x.graph.constant(indices))
            return .tensor(picked.reshaped(Shape(dimensions)), value.type)
        }
        let picked = x.picked(positions, axis: axis)
        return .tensor(picked.reshaped(Shape(dimensions)), value.type)
    }

    private static func gathered(
        _ tensor: ONNXTensor, _ axis: Int, _ positions: [Int], _ dimensions: [Int],
        _ node: NodeContext
    ) throws -> ONNXTensor {
        try node.takeHost(dimensions)
        guard !dimensions.contains(0) else { return tensor.gathered([], dimensions) }
        let inner = tensor.dimensions[(axis + 1)...].reduce(1, *)
        let outer = tensor.dimensions[..<axis].reduce(1, *)
        let size = tensor.dimensions[axis]
        var all: [Int] = []
        for row in 0..<outer {
            for position in positions {
                let start = (row * size + position) * inner
                all += start..<(start + inner)
            }
        }
        return tensor.gathered(all, dimensions)
    }
}
