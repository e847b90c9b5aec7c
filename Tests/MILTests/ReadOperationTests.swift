import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import Testing

/// Operations that other converters write and our export does not, compared with plain loops.
@Suite struct ReadOperationTests {
    private let shape = [1, 4, 6, 8]
    private let x: TensorData

    init() { x = numbers(Shape(shape)) }

    private static func float(_ value: Float) -> MILOperand { .constant(.float(value)) }
    private static func string(_ value: String) -> MILOperand { .constant(.string(value)) }
    private static func flag(_ value: Bool) -> MILOperand { .constant(.bool(value)) }

    /// The result of an operation applied to `x`.
    private func run(
        _ type: String, _ parameters: [String: MILOperand], shape output: [Int]
    ) throws -> TensorData? {
        var builder = MILProgramBuilder()
        let input = builder.input("x", MILTensorType(.float32, shape))
        let y = builder.operation(
            type, parameters.merging(["x": .name(input)]) { $1 }, name: "y",
            type: MILTensorType(.float32, output))
        try builder.output(y, as: "y")
        return try raise(try package(builder.program)).run(["x": x])["y"]
    }

    /// Compares each element with the value that `number` returns for its indices n, c, h and w.
    private func expect(
        _ found: TensorData?, within bound: Float = 0, location: SourceLocation = #_sourceLocation,
        _ number: (Int, Int, Int, Int) -> Float
    ) throws {
        let found = try #require(found)
        var expected: [Float] = []
        for index in 0..<found.shape.count {
            let (w, h) = (index % found.shape[3], index / found.shape[3] % found.shape[2])
            let rest = index / found.shape[3] / found.shape[2]
            expected.append(number(rest / found.shape[1], rest % found.shape[1], h, w))
        }
        let error = zip(found.scalars, expected).map { abs($0 - $1) }.max() ?? .infinity
        #expect(error <= bound, sourceLocation: location)
    }

    private func at(_ n: Int, _ c: Int, _ h: Int, _ w: Int) -> Float {
        x.scalars[((n * shape[1] + c) * shape[2] + h) * shape[3] + w]
    }

    struct Pointwise: Sendable, CustomTestStringConvertible {
        let type: String
        let parameters: [String: MILOperand]
        let function: @Sendable (Float) -> Float

        init(
            _ type: String, _ parameters: [String: MILOperand] = [:],
            _ function: @escaping @Sendable (Float) -> Float
        ) {
            self.type = type
            self.parameters = parameters
            self.function = function
        }

        var testDescription: String { type }
    }

    /// One of the values of `x`.
    private static let known = numbers([1, 4, 6, 8]).scalars[17]

    @Test(arguments: [
        Pointwise("greater", ["y": float(known)]) { $0 > known ? 1 : 0 },
        Pointwise("greater_equal", ["y": float(known)]) { $0 >= known ? 1 : 0 },
        Pointwise("less", ["y": float(known)]) { $0 < known ? 1 : 0 },
        Pointwise("less_equal", ["y": float(known)]) { $0 <= known ? 1 : 0 },
        Pointwise("equal", ["y": float(known)]) { $0 == known ? 1 : 0 },
        Pointwise("not_equal", ["y": float(known)]) { $0 != known ? 1 : 0 },
        Pointwise("sign") { $0 > 0 ? 1 : $0 < 0 ? -1 : 0 },
        Pointwise("linear_activation", ["alpha": float(2), "beta": float(0.5)]) { 2 * $0 + 0.5 },
        Pointwise("clamped_relu", ["alpha": float(0.5), "beta": float(0.25)]) {
            min($0 > 0 ? $0 : 0.5 * $0, 0.25)
        },
        Pointwise("threshold", ["alpha": float(0.25)]) { max($0, 0.25) },
        Pointwise("floor") { $0.rounded(.down) },
        Pointwise("ceil") { $0.rounded(.up) },
        Pointwise("round") { $0.rounded(.toNearestOrEven) },
        Pointwise("floor_div", ["y": float(0.25)]) { ($0 / 0.25).rounded(.down) },
        Pointwise("mod", ["y": float(0.25)]) { $0 - ($0 / 0.25).rounded(.down) * 0.25 },
    ])
    func pointwise(_ example: Pointwise) throws {
        let found = try run(example.type, example.parameters, shape: shape)
        #expect(found?.scalars == x.scalars.map(example.function))
    }

    /// 8-bit activations with one scale and zero point per tensor or per channel.
    @Test(arguments: [nil, 1])
    func quantizesActivations(_ axis: Int?) throws {
        let count = axis == nil ? 1 : 4
        let scales = (0..<count).map { Float($0 + 1) / 256 }
        let zeros = (0..<count).map { Int32($0) - 2 }
        let parameterShape = axis == nil ? [] : [count]
        var parameters: [String: MILOperand] = [
            "scale": .constant(.floats(scales, shape: parameterShape, as: .float32)),
            "zero_point": .constant(.packed(zeros, shape: parameterShape, as: .int8)),
        ]
        parameters["axis"] = axis.map { .constant(.integer(Int32($0))) }
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, shape))
        let q = builder.operation(
            "quantize",
            parameters.merging(["input": .name(x), "output_dtype": Self.string("int8")]) { $1 },
            name: "q", type: MILTensorType(.int8, shape))
        let y = builder.operation(
            "dequantize", parameters.merging(["input": .name(q)]) { $1 }, name: "y",
            type: MILTensorType(.float32, shape))
        try builder.output(y, as: "y")
        let found = try raise(try package(builder.program)).run(["x": self.x])["y"]
        try expect(found) { n, c, h, w in
            let place = min(c, count - 1)
            let code = (at(n, c, h, w) / scales[place]).rounded(.toNearestOrEven)
            let limited = min(max(code + Float(zeros[place]), -128), 127)
            return (limited - Float(zeros[place])) * scales[place]
        }
    }

    /// x for 0 < x ≤ ½, otherwise ¼.
    @Test func choices() throws {
        var builder = MILProgramBuilder()
        let type = MILTensorType(.bool, shape)
        let x = builder.input("x", MILTensorType(.float32, shape))
        let above = builder.operation(
            "greater", ["x": .name(x), "y": Self.float(0)], name: "above", type: type)
        let high = builder.operation(
            "greater", ["x": .name(x), "y": Self.float(0.5)], name: "high", type: type)
        let low = builder.operation("logical_not", ["x": .name(high)], name: "low", type: type)
        let both = builder.operation(
            "logical_and", ["x": .name(above), "y": .name(low)], name: "both", type: type)
        let y = builder.operation(
            "select", ["cond": .name(both), "a": .name(x), "b": Self.float(0.25)], name: "y",
            type: MILTensorType(.float32, shape))
        try builder.output(y, as: "y")
        let found = try raise(try package(builder.program)).run(["x": self.x])["y"]
        #expect(found?.scalars == self.x.scalars.map { $0 > 0 && $0 <= 0.5 ? $0 : 0.25 })
    }

    @Test func mirrors() throws {
        let amounts = MILOperand.integers([2, 1, 0, 3])
        let reflected = try run(
            "pad", ["pad": amounts, "mode": Self.string("reflect")], shape: [1, 4, 9, 11])
        let mirror = { (place: Int, size: Int) in place < size ? abs(place) : 2 * size - 2 - place }
        try expect(reflected) { n, c, h, w in at(n, c, mirror(h - 2, 6), mirror(w, 8)) }
        let repeated = try run(
            "pad", ["pad": amounts, "mode": Self.string("replicate")], shape: [1, 4, 9, 11])
        try expect(repeated) { n, c, h, w in at(n, c, min(max(h - 2, 0), 5), min(w, 7)) }
    }

    @Test func places() throws {
        let rows = try run(
            "gather", ["indices": .integers([5, 0, 1, -1]), "axis": .constant(.integer(2))],
            shape: [1, 4, 4, 8])
        try expect(rows) { n, c, h, w in at(n, c, [5, 0, 1, 5][h], w) }
        let reversed = try run("reverse", ["axes": .integers([-1, 1])], shape: shape)
        try expect(reversed) { n, c, h, w in at(n, 3 - c, h, 7 - w) }
        let single = try run(
            "gather", ["indices": .constant(.integer(2)), "axis": .constant(.integer(1))],
            shape: [1, 6, 8])
        #expect(single?.scalars == Array(x.scalars[96..<144]))
    }

    @Test func interleaves() throws {
        let found = try run(
            "concat",
            [
                "values": .names(["x", "x", "x"]), "axis": .constant(.integer(1)),
                "interleave": Self.flag(true),
            ], shape: [1, 12, 6, 8])
        try expect(found) { n, c, h, w in at(n, c / 3, h, w) }
    }

    @Test func roundsUp() throws {
        let window: [String: MILOperand] = [
            "kernel_sizes": .integers([3, 3]), "strides": .integers([2, 2]),
            "pad_type": Self.string("custom"), "ceil_mode": Self.flag(true),
        ]
        let cells = { (h: Int, w: Int) in
            (2 * h..<min(2 * h + 3, 6)).flatMap { row in
                (2 * w..<min(2 * w + 3, 8)).map { (row, $0) }
            }
        }
        try expect(try run("max_pool", window, shape: [1, 4, 3, 4])) { n, c, h, w in
            cells(h, w).map { at(n, c, $0.0, $0.1) }.max() ?? 0
        }
        try expect(try run("avg_pool", window, shape: [1, 4, 3, 4]), within: 1e-6) { n, c, h, w in
            let values = cells(h, w).map { at(n, c, $0.0, $0.1) }
            return values.reduce(0, +) / Float(values.count)
        }
        // A window that would begin in the padding at the end does not count.
        var apart = window
        apart["kernel_sizes"] = .integers([2, 2])
        apart["strides"] = .integers([3, 3])
        apart["pad"] = .integers([1, 1, 1, 1])
        let found = try run("max_pool", apart, shape: [1, 4, 3, 3])
        try expect(found) { n, c, h, w in
            let (rows, columns) = (max(3 * h - 1, 0)..<min(3 * h + 1, 6), (3 * w - 1)..<(3 * w + 1))
            return rows.flatMap { row in
                columns.filter { 0..<8 ~= $0 }.map { at(n, c, row, $0) }
            }.max() ?? 0
        }
        var padded = window
        padded["pad"] = .integers([1, 1, 1, 1])
        padded["exclude_padding_from_average"] = Self.flag(false)
        #expect(throws: ConversionError.self) { try run("avg_pool", padded, shape: [1, 4, 4, 5]) }
    }

    struct Resize: Sendable, CustomTestStringConvertible {
        let type: String
        let parameters: [String: MILOperand]
        /// The input coordinate, of `from`, of output index `index`, of `to`.
        let coordinate: @Sendable (_ index: Float, _ from: Float, _ to: Float) -> Float

        var testDescription: String { "\(type) \(parameters.keys.sorted())" }
    }

    private static let scales: [String: MILOperand] = [
        "scale_factor_height": float(0.84), "scale_factor_width": float(1.75),
    ]
    private static let sizes: [String: MILOperand] = [
        "target_size_height": .constant(.integer(5)), "target_size_width": .constant(.integer(14)),
    ]

    @Test(arguments: [
        Resize(
            type: "upsample_bilinear",
            parameters: scales.merging(["align_corners": flag(false)]) { $1 }
        ) { ($0 + 0.5) * $1 / $2 - 0.5 },
        Resize(type: "upsample_bilinear", parameters: scales) { $0 * ($1 - 1) / ($2 - 1) },
        Resize(
            type: "upsample_bilinear",
            parameters: scales.merging([
                "align_corners": flag(false), "half_pixel_centers": flag(false),
            ]) { $1 }
        ) { $0 * $1 / $2 },
        Resize(type: "resize_bilinear", parameters: sizes) { $0 * $1 / $2 },
        Resize(
            type: "resize_bilinear",
            parameters: sizes.merging(["sampling_mode": string("UNALIGN_CORNERS")]) { $1 }
        ) { ($0 + 0.5) * $1 / $2 - 0.5 },
    ])
    func resizes(_ example: Resize) throws {
        let found = try run(example.type, example.parameters, shape: [1, 4, 5, 14])
        func weights(_ index: Int, _ from: Int, _ to: Int) -> [(Int, Float)] {
            let position = example.coordinate(Float(index), Float(from), Float(to))
            let clamped = min(max(position, 0), Float(from - 1))
            let share = clamped - clamped.rounded(.down)
            return [(Int(clamped), 1 - share), (min(Int(clamped) + 1, from - 1), share)]
        }
        try expect(found, within: 1e-5) { n, c, h, w in
            weights(h, 6, 5).reduce(0) { sum, row in
                sum + weights(w, 8, 14).reduce(0) { $0 + $1.1 * row.1 * at(n, c, row.0, $1.0) }
            }
        }
    }

    @Test(arguments: [
        ("pad", ["pad": MILOperand.integers([0, 8]), "mode": string("reflect")]),
        ("pad", ["pad": .integers([-1, 0]), "mode": string("replicate")]),
        ("pad", ["pad": .integers([1, 0]), "mode": string("wrap")]),
        ("gather", ["indices": .integers([8]), "axis": .constant(.integer(3))]),
        ("gather", ["indices": .integers([0]), "batch_dims": .constant(.integer(1))]),
        ("reverse", ["axes": .integers([4])]),
        ("resize_bilinear", sizes.merging(["sampling_mode": string("OFFSET_CORNERS")]) { $1 }),
        ("resize_nearest_neighbor", sizes),
    ])
    func refuses(type: String, parameters: [String: MILOperand]) throws {
        let error = #expect(throws: ConversionError.self) {
            try run(type, parameters, shape: shape)
        }
        #expect(error?.place.contains("(\(type), \"y\")") == true)
    }
}
