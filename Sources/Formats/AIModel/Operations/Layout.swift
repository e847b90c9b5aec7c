import RetintGraph
import RetintMLPackage

/// Operations that move or select elements.
enum LayoutForms: DialectForms {
    static let writers: [String: OperationWriter] = [
        "identity": { _, operation in [try operation.value("x")] },
        "reshape": { graph, operation in
            [try graph.reshaped(try operation.value("x"), operation.type.shape ?? [])]
        },
        "expand_dims": { graph, operation in
            [try graph.reshaped(try operation.value("x"), operation.type.shape ?? [])]
        },
        "squeeze": { graph, operation in
            [try graph.reshaped(try operation.value("x"), operation.type.shape ?? [])]
        },
        "transpose": { graph, operation in
            let x = try operation.value("x")
            let order = try operation.requiredIntegers("perm", count: x.shape.count)
            return [
                try graph.transposed(
                    x, try operation.axes(order, rank: x.shape.count))
            ]
        },
        "concat": { graph, operation in
            let values = try operation.valueList("values")
            guard try !operation.bool("interleave", default: false) else {
                throw NotWritable("a concat that interleaves has no counterpart")
            }
            if values.count == 1 { return values }
            let rank = operation.type.rank
            let axis = try operation.axis("axis", rank: rank)
            let number = try graph.constant(.integer(Int32(axis)))
            return [try graph.add("primitive.concat_v1", [number] + values, operation.type)]
        },
        "split": { graph, operation in
            let x = try operation.value("x")
            let axis = try operation.axis("axis", rank: x.shape.count)
            let types = operation.operation.outputs.map(\.type)
            let sizes = types.map { $0.shape?[axis] ?? 0 }
            return try graph.add(
                "primitive.split_v1",
                [x, try graph.unsigned(sizes), try graph.constant(.integer(Int32(axis)))], types)
        },
        "slice_by_index": { graph, operation in [try graph.slice(operation)] },
        "crop": { graph, operation in
            let x = try operation.value("x")
            let rows = try operation.requiredIntegers("crop_height", count: 2)
            let columns = try operation.requiredIntegers("crop_width", count: 2)
            let rank = x.shape.count
            var begin = [Int](repeating: 0, count: rank)
            begin[rank - 2] = rows[0]
            begin[rank - 1] = columns[0]
            return [
                try graph.sliced(
                    x, from: begin, to: zip(begin, operation.type.shape ?? []).map { $0 + $1 })
            ]
        },
        "pad": { graph, operation in [try graph.pad(operation)] },
        "reverse": { graph, operation in
            let x = try operation.value("x")
            let axes = try operation.integers("axes") ?? Array(x.shape.indices)
            return [
                try graph.add(
                    "primitive.reverse_v1",
                    [x, try graph.signed(try operation.axes(axes, rank: x.shape.count))], x.type)
            ]
        },
        "pixel_shuffle": { graph, operation in
            let x = try operation.value("x")
            let factor = try operation.integer("upscale_factor")
            let shape = operation.type.shape ?? []
            let (height, width) = (x.shape[2], x.shape[3])
            return [
                try graph.rearranged(
                    x, [shape[0], shape[1], factor, factor, height, width], [0, 1, 4, 2, 5, 3],
                    shape)
            ]
        },
        "pixel_unshuffle": { graph, operation in
            let x = try operation.value("x")
            let factor = try operation.integer("downscale_factor")
            let shape = operation.type.shape ?? []
            return [
                try graph.rearranged(
                    x, [shape[0], x.shape[1], shape[2], factor, shape[3], factor],
                    [0, 1, 3, 5, 2, 4], shape)
            ]
        },
        "tile": { graph, operation in
            let x = try operation.value("x")
            let counts = try operation.requiredIntegers("reps", count: x.shape.count)
            let spread = try graph.reshaped(x, x.shape.flatMap { [1, $0] })
            let repeated = try graph.broadcast(
                spread, to: zip(counts, x.shape).flatMap { [$0, $1] })
            return [try graph.reshaped(repeated, operation.type.shape ?? [])]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.reshape_v1": reshaping, "primitive.reshape_v2": reshaping,
        "primitive.expand_dims_v1": reshaping, "primitive.shrink_dims_v1": reshaping,
        "primitive.broadcast_in_dims_v1": repeating, "primitive.broadcast_to_v1": repeating,
        "tile_v1": repeating, "tile_v2": repeating,
        "primitive.transpose_v1": { graph, operation in
            [
                try graph.add(
                    "transpose",
                    ["x": operation.operand(0), "perm": .integers(try operation.integers(1))],
                    operation)
            ]
        },
        "primitive.concat_v1": { graph, operation in
            let values = operation.operands.dropFirst().map(graph.name)
            return [
                try graph.add(
                    "concat",
                    [
                        "values": .names(values),
                        "axis": .constant(.integer(try operation.integer(0))),
                        "interleave": .constant(.bool(false)),
                    ], operation)
            ]
        },
        "primitive.split_v1": { graph, operation in try graph.split(operation) },
        "primitive.slice_v1": { graph, operation in [try graph.slice(operation)] },
        "primitive.pad_v1": { graph, operation in [try graph.pad(operation)] },
        "primitive.reverse_v1": { graph, operation in
            [
                try graph.add(
                    "reverse",
                    ["x": operation.operand(0), "axes": .integers(try operation.integers(1))],
                    operation)
            ]
        },
    ]

    private static let reshaping: OperationReader = { graph, operation in
        let shape = try operation.shape()
        guard !shape.isEmpty else { return [try graph.scalar(operation)] }
        return [
            try graph.add(
                "reshape", ["x": operation.operand(0), "shape": .integers(shape)], operation)
        ]
    }

    private static let repeating: OperationReader = { graph, operation in
        [try graph.repeated(try operation.value(0), operation)]
    }
}

extension GraphWriter {
    func reshaped(_ x: WrittenValue, _ shape: [Int]) throws -> WrittenValue {
        guard x.shape != shape else { return x }
        return try add("primitive.reshape_v2", [x, try signed(shape)], x.type(shape))
    }

    func transposed(_ x: WrittenValue, _ order: [Int]) throws -> WrittenValue {
        try add(
            "primitive.transpose_v1", [x, try unsigned(order)], x.type(order.map { x.shape[$0] }))
    }

    fileprivate func rearranged(
        _ x: WrittenValue, _ split: [Int], _ order: [Int], _ joined: [Int]
    ) throws -> WrittenValue {
        try reshaped(try transposed(try reshaped(x, split), order), joined)
    }

    func sliced(
        _ x: WrittenValue, from begin: [Int], to end: [Int], stride: [Int]? = nil
    ) throws -> WrittenValue {
        let stride = stride ?? [Int](repeating: 1, count: begin.count)
        let shape = zip(zip(begin, end), stride).map { ($0.1 - $0.0 + $1 - 1) / $1 }
        return try add(
            "primitive.slice_v1", [x, try signed(begin), try signed(end), try signed(stride)],
            x.type(shape))
    }

    fileprivate func slice(_ operation: WrittenOperation) throws -> WrittenValue {
        let x = try operation.value("x")
        let axes = try operation.slicedAxes(of: x.shape)
        guard axes.stride.allSatisfy({ $0 > 0 }) else {
            throw NotWritable("a slice with strides below 1 is not written")
        }
        let part = try sliced(x, from: axes.begin, to: axes.end, stride: axes.stride)
        return try reshaped(part, operation.type.shape ?? [])
    }

    /// Adds rows and columns to an image.
    func padded(
        _ x: WrittenValue, _ padding: Padding, with value: Float
    ) throws -> WrittenValue {
        let amounts = [padding.top, padding.bottom, padding.left, padding.right]
        guard amounts.contains(where: { $0 != 0 }) else { return x }
        return try padded(x, [0, 0, 0, 0] + amounts, .constant, with: value)
    }

    private func padded(
        _ x: WrittenValue, _ amounts: [Int], _ mode: PaddingMode, with value: Float
    ) throws -> WrittenValue {
        guard amounts.allSatisfy({ $0 >= 0 }) else {
            throw NotWritable("a pad with negative amounts is not written")
        }
        let shape = x.shape.indices.map { x.shape[$0] + amounts[2 * $0] + amounts[2 * $0 + 1] }
        return try add(
            "primitive.pad_v1", [x, try unsigned(amounts), try number(value, as: x.dataType)],
            x.type(shape), mode: (Dialect.AttributeCode.paddingMode, mode.rawValue))
    }

    fileprivate func pad(_ operation: WrittenOperation) throws -> WrittenValue {
        let x = try operation.value("x")
        let amounts = try operation.requiredIntegers("pad")
        guard amounts.count <= 2 * x.shape.count else {
            throw NotWritable("\(amounts.count) amounts of padding do not fit \(x.type)")
        }
        let modes: [String: PaddingMode] = [
            "constant": .constant, "reflect": .reflect, "replicate": .replicate,
        ]
        let text = try operation.string("mode", default: "constant")
        guard let mode = modes[text] else {
            throw NotWritable("the mode \(text) of pad has no counterpart")
        }
        let others = [Int](repeating: 0, count: 2 * x.shape.count - amounts.count)
        return try padded(
            x, others + amounts, mode,
            with: try operation.float("constant_val", default: 0))
    }
}

extension GraphReader {
    fileprivate func split(_ operation: ReadOperation) throws -> [ReadValue] {
        let axis = try operation.integer(2)
        let rank = try operation.value(0).type.rank
        let index = Int(axis) + (axis < 0 ? rank : 0)
        guard (0..<rank).contains(index), operation.results.allSatisfy({ $0.rank == rank }) else {
            throw operation.error("axis \(axis) does not fit its operand")
        }
        let sizes = try operation.results.map { type in
            guard let size = type.dimensions[index] else {
                throw operation.error("sizes that vary are not supported")
            }
            return size
        }
        return try addSeveral(
            "split",
            [
                "x": operation.operand(0), "axis": .constant(.integer(axis)),
                "split_sizes": .integers(sizes),
            ], operation)
    }

    fileprivate func slice(_ operation: ReadOperation) throws -> ReadValue {
        let x = try operation.value(0).type
        let (begin, end) = try (
            operation.integers(1, count: x.rank), operation.integers(2, count: x.rank)
        )
        // An end beyond the last element is allowed here, and at 0 or −1 it may mean something
        // else in MIL, where negative numbers count from the end.
        let toEnd = zip(end, x.dimensions).map { $0 >= $1 ?? .max }
        return try add(
            "slice_by_index",
            [
                "x": operation.operand(0), "begin": .integers(begin), "end": .integers(end),
                "stride": .integers(try operation.integers(3, count: x.rank)),
                "begin_mask": .constant(.bools(begin.map { _ in false })),
                "end_mask": .constant(.bools(toEnd)),
                "squeeze_mask": .constant(.bools(begin.map { _ in false })),
            ], operation)
    }

    fileprivate func pad(_ operation: ReadOperation) throws -> ReadValue {
        let amounts = try operation.integers(1)
        let modes: [PaddingMode: String] = [
            .constant: "constant", .reflect: "reflect", .replicate: "replicate",
        ]
        guard let mode = PaddingMode(rawValue: try operation.mode()), let text = modes[mode] else {
            throw operation.error("its padding mode is not supported")
        }
        let x = try operation.value(0)
        let value = mode == .constant ? try operation.number(2) : 0
        let result = try add(
            "pad",
            [
                "x": operation.operand(0), "pad": .integers(amounts),
                "mode": .constant(.string(text)),
                "constant_val": .constant(.float(value, as: x.type.dataType)),
            ], operation)
        if mode == .constant, value == 0 { remember(padding: amounts, of: x, as: result) }
        return result
    }

    /// A tensor of one element as a scalar, which MIL has no reshape to.
    fileprivate func scalar(_ operation: ReadOperation) throws -> ReadValue {
        let x = try operation.value(0)
        if case .constant(let constant) = x {
            return .constant(
                ReadConstant(
                    MILValue(
                        type: MILTensorType(constant.value.type.dataType),
                        content: constant.value.content)))
        }
        return try add("squeeze", ["x": operation.operand(0)], operation)
    }

    /// Repeats a tensor along axes, after adding those that are missing.
    fileprivate func repeated(
        _ x: ReadValue, _ operation: ReadOperation
    ) throws -> ReadValue {
        let (shape, own) = (try operation.shape(), x.type.shape ?? [])
        guard own.count <= shape.count, !shape.isEmpty else {
            throw operation.error("\(x.type) cannot be repeated to \(shape)")
        }
        let aligned = [Int](repeating: 1, count: shape.count - own.count) + own
        guard zip(shape, aligned).allSatisfy({ $1 > 0 && $0 % $1 == 0 }) else {
            throw operation.error("\(x.type) cannot be repeated to \(shape)")
        }
        var operand = try operation.operand(0)
        if aligned != own {
            operand = self.operand(
                try add(
                    "reshape", ["x": operand, "shape": .integers(aligned)], operation,
                    as: MILTensorType(x.type.dataType, aligned)))
        }
        let counts = zip(shape, aligned).map { $0 / $1 }
        return try add("tile", ["x": operand, "reps": .integers(counts)], operation)
    }
}
