import RetintMLPackage

/// Operations that take parts of a value.
enum Slicing: OperationFamily {
    static let forms: [String: Form] = [
        "slice_by_index": { try $0.sliceByIndex() }, "split": { try $0.split() },
        "crop": { operation in
            let rank = try operation.type(of: "x").rank
            guard rank >= 2 else { throw operation.error("two axes are needed") }
            var part = Part()
            for (axis, parameter) in [(rank - 2, "crop_height"), (rank - 1, "crop_width")] {
                let amounts = try operation.requiredIntegers(parameter, count: 2)
                guard amounts.allSatisfy({ $0 >= 0 }) else {
                    throw operation.error("\(parameter) must not be negative")
                }
                part.add(axis, from: amounts[0], to: amounts[1] == 0 ? .max : -amounts[1])
            }
            operation.result("Slice", try operation.slice(operation.tensor("x"), part))
        },
        "slice_by_size": { operation in
            let rank = try operation.type(of: "x").rank
            let begin = try operation.requiredIntegers("begin", count: rank)
            let sizes = try operation.requiredIntegers("size", count: rank)
            guard zip(begin, sizes).allSatisfy({ $0 >= 0 && $1 >= -1 }) else {
                throw operation.error("begin \(begin) and size \(sizes) are not supported")
            }
            var part = Part()
            for axis in 0..<rank where begin[axis] > 0 || sizes[axis] >= 0 {
                let end = sizes[axis] < 0 ? .max : begin[axis] &+ sizes[axis]
                part.add(axis, from: begin[axis], to: end)
            }
            try operation.take(part)
        },
        "reverse": { operation in
            let rank = try operation.type(of: "x").rank
            let given = try operation.integers("axes") ?? Array(0..<rank)
            var part = Part()
            for axis in try operation.axes(given, rank: rank) {
                part.add(axis, from: -1, to: -.max, by: -1)
            }
            operation.result("Slice", try operation.slice(operation.tensor("x"), part))
        },
        "gather": { operation in
            guard try operation.integer("batch_dims", default: 0) == 0 else {
                throw operation.error("batch_dims other than 0 are not supported")
            }
            let rank = try operation.type(of: "x").rank
            let axis = try operation.axis("axis", rank: rank, default: 0)
            operation.result(
                "Gather", [try operation.tensor("x"), try operation.tensor("indices", as: .int32)],
                ["axis": .int(axis)])
        },
        "gather_along_axis": { operation in
            try operation.require(opset: 11, for: "elements at computed positions")
            let rank = try operation.type(of: "x").rank
            let axis = try operation.axis("axis", rank: rank, default: 0)
            operation.result(
                "GatherElements",
                [try operation.tensor("x"), try operation.tensor("indices", as: .int32)],
                ["axis": .int(axis)])
        },
        "scatter_along_axis": { operation in
            let mode = try operation.string("mode", default: "add")
            guard ["add", "update"].contains(mode) else {
                throw operation.error("the mode \"\(mode)\" is not supported")
            }
            try operation.require(opset: mode == "add" ? 16 : 11, for: "scattered elements")
            let rank = try operation.type(of: "data").rank
            var attributes: Attributes = [
                "axis": .int(try operation.axis("axis", rank: rank, default: 0))
            ]
            if mode == "add" { attributes.add("reduction", "add") }
            operation.result(
                "ScatterElements",
                [
                    try operation.tensor("data"), try operation.tensor("indices", as: .int32),
                    try operation.tensor("updates"),
                ], attributes)
        },
        "fill": { operation in
            let shape = try operation.requiredIntegers("shape")
            let value = try operation.number(operation.float("value", default: 0), "value")
            operation.result("Expand", [value, try operation.integers(shape, "shape")])
        },
        "reduce_argmax": { try $0.order("ArgMax") },
        "reduce_argmin": { try $0.order("ArgMin") },
        "argsort": { try $0.sorted() },
    ]
}

extension TranslatedOperation {
    /// The position of an extreme element, which ONNX has in 64 bits.
    fileprivate func order(_ type: String) throws {
        let axis = try axis("axis", rank: self.type(of: "x").rank, default: -1)
        let keeps = Attribute(try bool("keep_dims", default: false))
        let places = step(type, [try tensor("x")], ["axis": .int(axis), "keepdims": keeps])
        result("Cast", [places], ["to": try Self.target(.int32, self)])
    }

    fileprivate func sorted() throws {
        try require(opset: 11, for: "sorted positions")
        let x = try type(of: "x")
        let axis = try axis("axis", rank: x.rank, default: -1)
        guard let size = x.shape?[axis] else { throw error("the size of axis \(axis) is open") }
        let largest = Attribute(try !bool("ascending", default: false))
        let places = secondStep(
            "TopK", [try tensor("x"), try integers([size], "k")],
            ["axis": .int(axis), "largest": largest])
        result("Cast", [places], ["to": try Self.target(.int32, self)])
    }
}

/// The part of a value that Slice takes. An end beyond the axis means all the rest.
struct Part {
    fileprivate var axes: [Int] = []
    fileprivate var starts: [Int] = []
    fileprivate var ends: [Int] = []
    fileprivate var steps: [Int] = []

    mutating func add(_ axis: Int, from start: Int, to end: Int, by step: Int = 1) {
        axes.append(axis)
        starts.append(start)
        ends.append(end)
        steps.append(step)
    }
}

extension TranslatedOperation {
    /// The inputs of Slice.
    fileprivate func slice(_ x: String, _ part: Part) throws -> [String] {
        [
            x, try integers(part.starts, "starts"), try integers(part.ends, "ends"),
            try integers(part.axes, "axes"), try integers(part.steps, "steps"),
        ]
    }

    /// The operation's result: a part of its value, or all of it.
    fileprivate func take(_ part: Part) throws {
        let x = try tensor("x")
        if part.axes.isEmpty { return result("Identity", [x]) }
        result("Slice", try slice(x, part))
    }

    fileprivate func sliceByIndex() throws {
        let x = try type(of: "x")
        let squeezed = try bools("squeeze_mask", count: x.rank)
        let part = try part(x, squeezed)
        let value = try tensor("x")
        let axes = squeezed.indices.filter { squeezed[$0] }
        guard !axes.isEmpty else { return try take(part) }
        let taken = step("Slice", try slice(value, part))
        let (inputs, attributes) = try unitAxes(taken, axes)
        result("Squeeze", inputs, attributes)
    }

    /// The axes that are sliced.
    private func part(_ x: MILTensorType, _ squeezed: [Bool]) throws -> Part {
        let begin = try requiredIntegers("begin", count: x.rank)
        let end = try requiredIntegers("end", count: x.rank)
        let stride = try integers("stride", count: x.rank, default: 1)
        let fromStart = try bools("begin_mask", count: x.rank)
        let toEnd = try bools("end_mask", count: x.rank)
        var part = Part()
        for axis in 0..<x.rank {
            let first = fromStart[axis] ? 0 : begin[axis]
            if squeezed[axis] {
                part.add(axis, from: first, to: first == -1 ? .max : first + 1)
                continue
            }
            guard stride[axis] >= 1 else { throw error("strides below 1 are not supported") }
            let isWhole = toEnd[axis] || x.dimensions[axis].map { end[axis] >= $0 } ?? false
            if first == 0, isWhole, stride[axis] == 1 { continue }
            part.add(axis, from: first, to: isWhole ? .max : end[axis], by: stride[axis])
        }
        return part
    }

    /// Split takes equal parts unless it is told sizes, which became an input with opset 13.
    fileprivate func split() throws {
        let rank = try type(of: "x").rank
        let axis = Attribute.int(try axis("axis", rank: rank))
        let x = try tensor("x")
        guard let sizes = try integers("split_sizes") else {
            let count = operation.outputs.count
            return opset >= 18
                ? result("Split", [x], ["axis": axis, "num_outputs": .int(count)])
                : result("Split", [x], ["axis": axis])
        }
        guard opset >= 13 else {
            return result("Split", [x], ["axis": axis, "split": .ints(sizes)])
        }
        result("Split", [x, try integers(sizes, "sizes")], ["axis": axis])
    }
}
