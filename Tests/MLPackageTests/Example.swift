import RetintMLPackage

/// A small colorizer with a float32 interface: conv, relu, batch_norm, add, softmax,
/// upsample_bilinear.
struct Example {
    var precision: MILDataType = .float32
    var target: DeploymentTarget = .iOS15
    private var builder = MILProgramBuilder()

    init(_ precision: MILDataType = .float32, _ target: DeploymentTarget = .iOS15) {
        self.precision = precision
        self.target = target
    }

    /// Elements that are neither equal nor round.
    static func elements(_ count: Int, scale: Float = 0.01) -> [Float] {
        (0..<count).map { Float(($0 * 7919) % 201 - 100) * scale }
    }

    func package() throws -> MLPackage {
        var example = self
        let input = MILTensorType(.float32, [1, 1, 8, 8])
        let x = example.builder.input("lightness", input)
        let low = example.cast(x, to: precision, shape: [1, 1, 8, 8])
        let y = example.cast(example.body(low), to: .float32, shape: [1, 4, 16, 16])
        try example.builder.output(y, as: "ab")
        let array = { ArrayFeature(.float32, $0) }
        var description = ModelDescription(
            inputs: [Feature("lightness", .multiArray(array([1, 1, 8, 8])))],
            outputs: [Feature("ab", .multiArray(array([1, 4, 16, 16])))])
        description.metadata.author = "nobody"
        description.metadata.userDefined = ["b": "2", "a": "1", "c": "3"]
        return MLPackage(target: target, description: description, program: example.builder.program)
    }

    private mutating func body(_ x: String) -> String {
        let wide = MILTensorType(precision, [1, 4, 8, 8])
        let first = conv(x, channels: 1, name: "model1.0")
        let active = builder.operation("relu", ["x": .name(first)], name: "model1.1", type: wide)
        let normal = norm(active, name: "model1.2")
        let second = conv(normal, channels: 4, name: "model2.0")
        let sum = builder.operation(
            "add", ["x": .name(second), "y": .name(normal)], name: "add", type: wide)
        let classes = builder.operation(
            "softmax", ["x": .name(sum), "axis": .constant(.integer(1))], name: "softmax",
            type: wide)
        return upsample(classes)
    }

    private mutating func conv(_ x: String, channels: Int, name: String) -> String {
        let weight = Self.elements(4 * channels * 9)
        return builder.operation(
            "conv",
            [
                "x": .name(x),
                "weight": .constant(.floats(weight, shape: [4, channels, 3, 3], as: precision)),
                "bias": .constant(.floats(Self.elements(4), as: precision)),
                "strides": .constant(.integers([1, 1])),
                "pad_type": .constant(.string("custom")),
                "pad": .constant(.integers([1, 1, 1, 1])),
                "dilations": .constant(.integers([1, 1])),
                "groups": .constant(.integer(1)),
            ], name: name, type: MILTensorType(precision, [1, 4, 8, 8]))
    }

    private mutating func norm(_ x: String, name: String) -> String {
        let precision = precision
        let vector = { MILOperand.constant(.floats($0, as: precision)) }
        return builder.operation(
            "batch_norm",
            [
                "x": .name(x), "mean": vector([0, 0.1, 0.2, 0.3]),
                "variance": vector([1, 2, 3, 4]),
                "gamma": vector([1, 1, 2, 2]), "beta": vector([0, 1, 0, 1]),
                "epsilon": .constant(.float(0.001, as: precision)),
            ], name: name, type: MILTensorType(precision, [1, 4, 8, 8]))
    }

    private mutating func upsample(_ x: String) -> String {
        builder.operation(
            "upsample_bilinear",
            [
                "x": .name(x), "scale_factor_height": .constant(.float(2)),
                "scale_factor_width": .constant(.float(2)),
                "align_corners": .constant(.bool(false)),
            ], name: "up", type: MILTensorType(precision, [1, 4, 16, 16]))
    }

    private mutating func cast(_ x: String, to type: MILDataType, shape: [Int]) -> String {
        if precision == .float32 { return x }
        let name = type == .float16 ? "fp16" : "fp32"
        return builder.operation(
            "cast", ["x": .name(x), "dtype": .constant(.string(name))], name: x + "_cast",
            type: MILTensorType(type, shape))
    }
}
