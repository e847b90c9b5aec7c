import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors

/// A small program of MIL operations, with pseudorandom constants.
struct Sketch {
    private(set) var program = MILProgram()
    private var seed = 0

    init(input shape: [Int]) {
        program.inputs = [MILNamedType("x", MILTensorType(.float32, shape))]
    }

    /// A constant of numbers in −1…1 times a factor; a factor for each index of the first axis.
    mutating func numbers(_ shape: [Int], _ factors: [Float] = [1]) -> MILArgument {
        seed += 1
        let count = shape.reduce(1, *)
        let values = pseudorandomValues(Shape(shape), seed: seed).scalars.enumerated().map {
            $1 * factors[factors.count == 1 ? 0 : $0 / (count / shape[0])]
        }
        return constant(.floats(values, shape: shape))
    }

    mutating func constant(_ value: MILValue) -> MILArgument {
        let name = "c\(program.operations.count)"
        program.operations.append(MILOperation(constant: name, value))
        return .name(name)
    }

    mutating func add(
        _ type: String, _ inputs: [String: MILArgument], _ shape: [Int],
        listing values: [MILArgument] = []
    ) -> MILArgument {
        let name = "v\(program.operations.count)"
        program.operations.append(
            MILOperation(
                type,
                inputs: inputs.mapValues { [$0] }.merging(values.isEmpty ? [:] : ["values": values])
                {
                    $1
                },
                outputs: [MILNamedType(name, MILTensorType(.float32, shape))]))
        return .name(name)
    }

    /// A convolution of kernels of 1 × 1, or of 3 × 3 with padding.
    mutating func conv(
        _ x: MILArgument, _ weight: MILArgument, _ bias: MILArgument, _ shape: [Int],
        kernel: Int = 1, groups: Int = 1
    ) -> MILArgument {
        let pad = Int32(kernel / 2)
        return add(
            "conv",
            [
                "x": x, "weight": weight, "bias": bias, "pad_type": constant(.string("custom")),
                "pad": constant(.integers([pad, pad, pad, pad])),
                "strides": constant(.integers([1, 1])), "dilations": constant(.integers([1, 1])),
                "groups": constant(.integer(Int32(groups))),
            ], shape)
    }

    func package(returning output: MILArgument, _ target: DeploymentTarget = .iOS17) throws
        -> MLPackage
    {
        var program = program
        program.outputs = output.name.map { [$0] } ?? []
        return try RetintPackageSupport.package(program, target)
    }
}

extension MLPackage {
    /// The only output for one input.
    func output(_ x: TensorData, rounding: ResultRounding = .none) throws -> [Float] {
        let model = try raise(self, rounding: rounding)
        return try model.run([model.inputs[0].name: x])[model.outputs[0].name]?.scalars ?? []
    }

    func operations(_ type: String) -> [MILOperation] {
        program.operations.filter { $0.type == type }
    }
}
