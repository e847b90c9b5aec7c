import RetintMLPackage

/// Parts of tensors.
enum Slicing: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "slice_by_index": { graph, operation in [try graph.slice(operation)] },
        "crop": { graph, operation in
            let x = try operation.value("x")
            let rows = try operation.requiredIntegers("crop_height", count: 2)
            let columns = try operation.requiredIntegers("crop_width", count: 2)
            let rank = x.shape.count
            guard rank >= 2 else { throw NotWritable("a crop of \(x.type)") }
            var begin = [Int](repeating: 0, count: rank)
            begin[rank - 2] = rows[0]
            begin[rank - 1] = columns[0]
            return [
                try graph.sliced(
                    x, from: begin, to: zip(begin, operation.type.shape ?? []).map { $0 + $1 })
            ]
        },
        "reverse": { graph, operation in
            let x = try operation.value("x")
            let axes = try operation.integers("axes") ?? Array(x.shape.indices)
            return [
                try graph.add(
                    "primitive.reverse_v1",
                    [x, try graph.signed(try operation.axes(axes, rank: x.shape.count))], x.type)
            ]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.slice_v1": { graph, operation in [try graph.slice(operation)] },
        "primitive.reverse_v1": { graph, operation in
            [
                try graph.add(
                    "reverse",
                    ["x": operation.operand(0), "axes": .integers(try operation.integers(1))],
                    operation)
            ]
        },
    ]
}

extension GraphWriter {
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
}

extension GraphReader {
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
}
