import RetintGraph
import RetintMLPackage
import RetintTensors

/// Pooling. That of the dialect has no padding, and sums instead of means.
enum Pooling: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "max_pool": { graph, operation in
            let pool = try Pool(operation, graph)
            let padded = try graph.padded(pool.x, pool.window.padding, with: -.infinity)
            let ceiling = try graph.constant(.bool(false))
            return [
                try graph.add(
                    "primitive.max_pool_2d_v1", [padded] + pool.operands(graph) + [ceiling],
                    operation.type)
            ]
        },
        "avg_pool": { graph, operation in
            let pool = try Pool(operation, graph)
            let excludes = try operation.bool(
                "exclude_padding_from_average", default: false)
            let padded = try graph.padded(pool.x, pool.window.padding, with: 0)
            let sum = try graph.add(
                "primitive.sum_pool_2d_v1", [padded] + pool.operands(graph), operation.type)
            guard let shape = operation.type.shape, shape.count == 4 else {
                throw NotWritable("an average pooling of open sizes is not written")
            }
            let shares = pool.shares(of: shape, excludingPadding: excludes)
            let factor = try graph.constant(
                .floats(shares.values, shape: shares.shape, as: pool.x.dataType))
            return [try graph.combined("mul", sum, factor)]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.max_pool_2d_v1": { graph, operation in
            guard try operation.integer(4) == 0 else {
                throw operation.error("pooling of windows that are cut off is not supported")
            }
            return [try graph.pooled("max_pool", operation, [:])]
        },
        "primitive.sum_pool_2d_v1": { graph, operation in
            let count = try operation.integers(1, count: 2).reduce(Float(1)) { $0 * Float($1) }
            let mean = try graph.pooled(
                "avg_pool", operation,
                ["exclude_padding_from_average": .constant(.bool(false))])
            let factor = MILOperand.constant(.float(count, as: mean.type.dataType))
            return [try graph.add("mul", ["x": graph.operand(mean), "y": factor], operation)]
        },
    ]
}

/// A pooling that is being written.
private struct Pool {
    let x: WrittenValue
    let kernel: Pair
    let window: Window

    init(_ operation: WrittenOperation, _ graph: GraphWriter) throws {
        x = try operation.value("x")
        try graph.requireImages(x)
        let sizes = try operation.requiredIntegers("kernel_sizes", count: 2)
        kernel = Pair(sizes[0], sizes[1])
        window = try operation.window(Shape(x.shape), kernel: kernel)
        guard try !operation.bool("ceil_mode", default: false) else {
            throw NotWritable("a pooling with ceil_mode is not written")
        }
    }

    func operands(_ graph: GraphWriter) throws -> [WrittenValue] {
        [
            try graph.unsigned(kernel.sides), try graph.unsigned(window.stride.sides),
            try graph.unsigned([1, 1]),
        ]
    }

    /// The factor for the sums: one number, or one for each position if windows that
    /// reach beyond the image have fewer elements.
    func shares(of shape: [Int], excludingPadding: Bool) -> (values: [Float], shape: [Int]) {
        guard excludingPadding, window.padding != 0 else {
            return ([1 / Float(kernel.height * kernel.width)], [1, 1, 1, 1])
        }
        let rows = (0..<shape[2]).map { row in
            count(row, window.stride.height, window.padding.top, kernel.height, x.shape[2])
        }
        let columns = (0..<shape[3]).map { column in
            count(column, window.stride.width, window.padding.left, kernel.width, x.shape[3])
        }
        let values = rows.flatMap { row in columns.map { 1 / Float(row * $0) } }
        return (values, [1, 1, shape[2], shape[3]])
    }

    /// The elements of the image in a window along one axis.
    private func count(
        _ index: Int, _ stride: Int, _ before: Int, _ size: Int, _ extent: Int
    ) -> Int {
        let start = index * stride - before
        return max(min(start + size, extent) - max(start, 0), 1)
    }
}

extension GraphReader {
    fileprivate func pooled(
        _ type: String, _ operation: ReadOperation, _ more: [String: MILOperand]
    ) throws -> ReadValue {
        guard try operation.integers(3, count: 2) == [1, 1] else {
            throw operation.error("pooling with dilation is not supported")
        }
        let inputs: [String: MILOperand] = [
            "x": try operation.operand(0),
            "kernel_sizes": .integers(try operation.integers(1, count: 2)),
            "strides": .integers(try operation.integers(2, count: 2)),
            "pad_type": .constant(.string("custom")), "pad": .integers([0, 0, 0, 0]),
            "ceil_mode": .constant(.bool(false)),
        ]
        return try add(type, inputs.merging(more) { $1 }, operation)
    }
}
