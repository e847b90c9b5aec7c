import RetintGraph
import RetintTensors

/// Operations on more axes than a format has, written with fewer: neighboring axes that an
/// operation treats alike become one, and axes of one element are left out.
enum FewerAxes {
    /// The outputs of a copy of the graph, in which no operation has more than `limit` axes but
    /// reshapes, and those that need more; the outputs themselves if none has.
    static func of(
        _ outputs: [(name: String, value: Tensor)], limit: Int?
    ) throws -> [(name: String, value: Tensor)] {
        guard let limit, let source = outputs.first?.value.graph else { return outputs }
        func hasMore(_ id: Int) -> Bool {
            let node = source.nodes[id]
            return node.shape.rank > limit
                || node.inputs.contains { source.nodes[$0].shape.rank > limit }
        }
        guard source.live(from: outputs.map(\.value.id)).contains(where: hasMore) else {
            return outputs
        }
        return try source.copy(outputs) { id, _, copies in
            let node = source.nodes[id]
            guard hasMore(id) else { return nil }
            let inputs = node.inputs.compactMap { copies[$0] }
            return merged(node.operation, inputs, node.shape)?.reshaped(node.shape)
        }
    }

    /// The elements of the operation's result in another shape; nil for an operation that stays
    /// as it is.
    private static func merged(
        _ operation: any Operation, _ inputs: [Tensor], _ shape: Shape
    ) -> Tensor? {
        guard let x = inputs.first else { return nil }
        switch operation {
        case let transpose as Transpose:
            let axes = MergedAxes(x.shape, transpose.permutation)
            guard axes.permutation.count > 1 else { return x }
            return x.reshaped(axes.operand).transposed(axes.permutation)
        case let operation as any ElementwiseOperation:
            return x.graph.apply(operation, repeated(inputs, shape).operands)
        case is Broadcast:
            let (operands, result) = repeated(inputs, shape)
            return operands[0].broadcast(to: result)
        case let slice as Slice: return part(x, slice)
        case let concat as Concat: return joined(inputs, concat.axis)
        case let pad as Pad: return padded(x, pad)
        case let reduction as any AxisReduction: return reduced(x, reduction)
        case let softmax as Softmax: return scaled(x, softmax)
        case let product as MatMul where inputs.count == 2:
            return x.graph.apply(product, inputs.map(matrices))
        default: return nil
        }
    }

    /// The operands of an operation that repeats them to `shape`, and that shape, with axes merged
    /// along which the same operands are repeated.
    private static func repeated(
        _ inputs: [Tensor], _ shape: Shape
    ) -> (operands: [Tensor], result: Shape) {
        let aligned = inputs.map { input in
            let added = [Int](repeating: 1, count: shape.rank - input.shape.rank)
            return Shape(added + input.shape.dimensions)
        }
        let runs = AxisRuns(shape) { axis in
            shape[axis] == 1 ? nil : aligned.map { $0[axis] == 1 ? 1 : 0 }
        }
        let operands = zip(inputs, aligned).map { $0.reshaped(runs.shape(of: $1)) }
        return (operands, runs.shape(of: shape))
    }

    private static func part(_ x: Tensor, _ slice: Slice) -> Tensor {
        let runs = AxisRuns(x.shape) { axis in
            if x.shape[axis] == 1 { return nil }
            let isWhole =
                slice.begin[axis] == 0 && slice.end[axis] == x.shape[axis]
                && slice.stride[axis] == 1
            return isWhole ? [] : [axis]
        }
        let whole = runs.applied(to: x)
        return whole.sliced(
            from: runs.values(slice.begin, orElse: whole.shape.dimensions.map { _ in 0 }),
            to: runs.values(slice.end, orElse: whole.shape.dimensions),
            stride: runs.values(slice.stride, orElse: whole.shape.dimensions.map { _ in 1 }))
    }

    private static func padded(_ x: Tensor, _ pad: Pad) -> Tensor {
        let runs = AxisRuns(x.shape) { axis in
            if pad.before[axis] + pad.after[axis] > 0 { return [axis] }
            return x.shape[axis] == 1 ? nil : []
        }
        let inside = runs.applied(to: x)
        let none = inside.shape.dimensions.map { _ in 0 }
        return inside.padded(
            before: runs.values(pad.before, orElse: none),
            after: runs.values(pad.after, orElse: none), value: pad.value)
    }

    private static func joined(_ inputs: [Tensor], _ axis: Int) -> Tensor {
        let axis = axis < 0 ? axis + inputs[0].shape.rank : axis
        let runs = AxisRuns.around(axis, inputs[0].shape)
        return concat(inputs.map(runs.applied), axis: runs.place(of: axis))
    }

    private static func scaled(_ x: Tensor, _ softmax: Softmax) -> Tensor {
        let axis = softmax.axis < 0 ? softmax.axis + x.shape.rank : softmax.axis
        let runs = AxisRuns.around(axis, x.shape)
        return RetintGraph.softmax(runs.applied(to: x), axis: runs.place(of: axis))
    }

    private static func reduced<Reduction: AxisReduction>(
        _ x: Tensor, _ reduction: Reduction
    ) -> Tensor? {
        guard let axes = try? reduction.reducedAxes(of: x.shape) else { return nil }
        let runs = AxisRuns(x.shape) { axis in
            x.shape[axis] == 1 ? nil : axes.contains(axis) ? [1] : []
        }
        let places = Set(axes.filter { x.shape[$0] > 1 }.map(runs.place)).sorted()
        // The sum, the mean and the largest of one element are that element.
        guard !places.isEmpty else { return x }
        return x.graph.apply(
            Reduction(axes: places, keepDims: false), [runs.applied(to: x)])
    }

    /// Matrices whose leading axes are one.
    private static func matrices(_ x: Tensor) -> Tensor {
        guard x.shape.rank > 3 else { return x }
        let count = x.shape.dimensions.dropLast(2).reduce(1, *)
        return x.reshaped([count, x.shape[-2], x.shape[-1]])
    }
}

/// The axes of a shape, those that an operation treats alike in one run.
private struct AxisRuns {
    private var runs: [[Int]] = []

    /// - Parameter kind: neighbors of the same kind are merged; an axis without one, whose extent
    ///   is 1, is left out.
    init(_ shape: Shape, kind: (Int) -> [Int]?) {
        var last: [Int]?
        for axis in 0..<shape.rank {
            guard let own = kind(axis) else { continue }
            if own == last { runs[runs.count - 1].append(axis) } else { runs.append([axis]) }
            last = own
        }
        // A shape of one element has one axis.
        if runs.isEmpty { runs = [[]] }
    }

    /// One axis, and those before and behind it.
    static func around(_ axis: Int, _ shape: Shape) -> AxisRuns {
        AxisRuns(shape) { $0 == axis ? [axis] : shape[$0] == 1 ? nil : [] }
    }

    func shape(of shape: Shape) -> Shape {
        Shape(runs.map { $0.reduce(1) { $0 * shape[$1] } })
    }

    func applied(to x: Tensor) -> Tensor { x.reshaped(shape(of: x.shape)) }

    /// The index of the run with this axis.
    func place(of axis: Int) -> Int { runs.firstIndex { $0.contains(axis) } ?? 0 }

    /// The values of axes that are alone, and those of `whole` for several.
    func values(_ own: [Int], orElse whole: [Int]) -> [Int] {
        zip(runs, whole).map { $0.count == 1 ? own[$0[0]] : $1 }
    }
}
