import Foundation
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import Testing

/// Packages from other writers, with variants and operations that our export does not use.
@Suite struct RaiseTests {
    struct Form: Sendable, CustomTestStringConvertible {
        let type: String
        let parameters: [String: MILOperand]
        let shape: [Int]
        let expected: @Sendable (Tensor) -> Tensor

        init(
            _ type: String, _ parameters: [String: MILOperand] = [:],
            shape: [Int] = [1, 4, 6, 8], _ expected: @escaping @Sendable (Tensor) -> Tensor
        ) {
            self.type = type
            self.parameters = parameters
            self.shape = shape
            self.expected = expected
        }

        var testDescription: String { "\(type) \(parameters.keys.sorted())" }
    }

    private static func float(_ value: Float) -> MILOperand { .constant(.float(value)) }
    private static func string(_ value: String) -> MILOperand { .constant(.string(value)) }
    private static func integer(_ value: Int32) -> MILOperand { .constant(.integer(value)) }

    static let forms = [
        Form("silu") { $0 * sigmoid($0) },
        Form("softplus") { log(exp($0) + 1) },
        Form("square") { $0 * $0 },
        Form("elu", ["alpha": float(0.5)]) {
            relu($0) + (exp(minimum($0, $0.scalar(0))) - 1) * 0.5
        },
        Form("sigmoid_hard", ["alpha": float(0.5), "beta": float(0.25)]) {
            clip($0 * 0.5 + 0.25, min: 0, max: 1)
        },
        Form("thresholded_relu", ["alpha": float(0.25)]) { $0 * greaterOrEqual($0, 0.25) },
        Form("prelu", ["alpha": .constant(.floats([0.1, 0.2, 0.3, 0.4]))]) {
            let slope = $0.graph.constant(
                TensorData(shape: [4, 1, 1], scalars: [0.1, 0.2, 0.3, 0.4]))
            return maximum($0, $0.scalar(0)) + minimum($0, $0.scalar(0)) * slope
        },
        Form("gelu", ["mode": string("TANH_APPROXIMATION")]) {
            $0 * 0.5 * (tanh(($0 + $0 * $0 * $0 * 0.044_715) * 0.797_884_56) + 1)
        },
        Form("rsqrt", ["epsilon": float(4)]) { 1 / sqrt($0 + 4) },
        Form("cast", ["dtype": string("fp32")]) { $0 },
        Form("reduce_min", ["axes": .integers([1])], shape: [1, 6, 8]) { -(-$0).max(axes: [1]) },
        Form("reduce_mean", ["axes": .integers([-2, -1])], shape: [1, 4]) {
            $0.mean(axes: [2, 3])
        },
        Form("reshape", ["shape": .integers([1, -1, 2])], shape: [1, 96, 2]) {
            $0.reshaped([1, 96, 2])
        },
        Form("reshape", ["shape": .integers([0, 0, -1, 2])], shape: [1, 4, 24, 2]) {
            $0.reshaped([1, 4, 24, 2])
        },
        Form("expand_dims", ["axes": .integers([0, -1])], shape: [1, 1, 4, 6, 8, 1]) {
            $0.reshaped([1, 1, 4, 6, 8, 1])
        },
        Form("squeeze", ["axes": .integers([0])], shape: [4, 6, 8]) { $0.reshaped([4, 6, 8]) },
        Form("tile", ["reps": .integers([2, 1, 2, 1])], shape: [2, 4, 12, 8]) {
            concat([concat([$0, $0], axis: 2), concat([$0, $0], axis: 2)], axis: 0)
        },
        Form(
            "crop", ["crop_height": .integers([1, 2]), "crop_width": .integers([0, 3])],
            shape: [1, 4, 3, 5]
        ) { $0.sliced(from: [0, 0, 1, 0], to: [1, 4, 4, 5]) },
        Form("pad", ["pad": .integers([1, 2])], shape: [1, 4, 6, 11]) {
            $0.padded(before: [0, 0, 0, 1], after: [0, 0, 0, 2])
        },
        Form(
            "slice_by_index",
            [
                "begin": .integers([0, -1, 3, 1]), "end": .integers([0, 0, 0, -1]),
                "stride": .integers([1, 1, 1, 2]),
                "begin_mask": .constant(.bools([true, false, false, false])),
                "end_mask": .constant(.bools([true, true, true, false])),
                "squeeze_mask": .constant(.bools([false, true, false, false])),
            ], shape: [1, 3, 3]
        ) {
            $0.sliced(from: [0, 3, 3, 1], to: [1, 4, 6, 7], stride: [1, 1, 1, 2]).reshaped([
                1, 3, 3,
            ])
        },
        Form("upsample_bilinear", ["scale_factor_height": float(2)], shape: [1, 4, 12, 8]) {
            upsampleBilinear($0, factor: Pair(2, 1), alignCorners: true)
        },
        Form(
            "upsample_bilinear",
            [
                "scale_factor_height": float(2.00002), "scale_factor_width": integer(3),
                "align_corners": .constant(.bool(false)),
            ], shape: [1, 4, 12, 24]
        ) { upsampleBilinear($0, factor: Pair(2, 3)) },
        Form(
            "resize_bilinear",
            [
                "target_size_height": integer(12), "target_size_width": integer(16),
                "sampling_mode": string("UNALIGN_CORNERS"),
            ], shape: [1, 4, 12, 16]
        ) { upsampleBilinear($0, factor: 2) },
        Form(
            "avg_pool",
            [
                "kernel_sizes": .integers([2, 3]), "strides": .integers([2, 1]),
                "pad_type": string("valid"),
            ], shape: [1, 4, 3, 6]
        ) { avgPool2d($0, kernel: Pair(2, 3), stride: Pair(2, 1)) },
        Form(
            "max_pool",
            [
                "kernel_sizes": .integers([2, 3]), "strides": .integers([1, 2]),
                "pad_type": string("same"),
            ], shape: [1, 4, 6, 4]
        ) {
            let padding = Padding(top: 0, bottom: 1, left: 0, right: 1)
            return maxPool2d($0, kernel: Pair(2, 3), stride: Pair(1, 2), padding: padding)
        },
        Form("instance_norm", ["epsilon": float(0.01)]) { normalized($0, [2, 3], 0.01) },
        Form("layer_norm", ["axes": .integers([1, 3]), "epsilon": float(0.01)]) {
            normalized($0, [1, 3], 0.01)
        },
    ]

    @Test(arguments: forms)
    func form(_ form: Form) throws {
        let x = numbers([1, 4, 6, 8])
        let found = try raise(try package(try program(form))).run(["x": x])["y"]
        let expected = try form.expected(Graph().input("x", x.shape)).evaluate(inputs: ["x": x])
        #expect(try distance(found, expected) <= 2e-6 * max(1, expected.scalars.max() ?? 0))
    }

    @Test func exactGelu() throws {
        let x = TensorData(shape: [1, 4, 6, 8], scalars: (0..<192).map { Float($0) / 24 - 4 })
        let gelu = try program(Form("gelu") { $0 })
        let found = try raise(try package(gelu)).run(["x": x])["y"]
        let expected = x.scalars.map { 0.5 * $0 * (1 + erf($0 / Float(2).squareRoot())) }
        #expect(try distance(found, TensorData(shape: x.shape, scalars: expected)) <= 2e-6)
    }

    @Test func split() throws {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, [1, 5, 2, 2]))
        let parts = builder.operation(
            "split",
            ["x": .name(x), "axis": Self.integer(-3), "split_sizes": .integers([2, 3])],
            outputs: [
                MILNamedType("p", MILTensorType(.float32, [1, 2, 2, 2])),
                MILNamedType("q", MILTensorType(.float32, [1, 3, 2, 2])),
            ])
        try builder.output(parts[0], as: "first")
        try builder.output(parts[1], as: "second")
        let data = numbers([1, 5, 2, 2])
        let found = try raise(try package(builder.program)).run(["x": data])
        #expect(found["first"]?.scalars == Array(data.scalars[..<8]))
        #expect(found["second"]?.scalars == Array(data.scalars[8...]))
    }

    @Test(arguments: [
        Form("einsum_of_mine") { $0 }, Form("relu", shape: [1, 4, 6, 9]) { $0 },
        Form("softmax", ["axis": integer(4)]) { $0 },
        Form("leaky_relu", ["alpha": string("a")]) { $0 },
        Form("transpose", ["perm": .integers([0, 1])]) { $0 }, Form("concat") { $0 },
        Form("reshape", ["shape": .integers([-1, -1])]) { $0 },
        Form("reshape", ["shape": .integers([.max, .max, 8])]) { $0 },
        Form("cast", ["dtype": string("int4")]) { $0 },
        Form(
            "slice_by_index", ["begin": .integers([0, 0, 0, 9]), "end": .integers([1, 4, 6, 8])],
            { $0 }),
        Form("pad", ["pad": .integers([-1, 0])]) { $0 },
        Form("tile", ["reps": .integers([0, 1, 1, 1])]) { $0 },
        Form("upsample_bilinear", ["scale_factor_height": float(.nan)]) { $0 },
        Form("pixel_shuffle", ["upscale_factor": integer(0)]) { $0 },
        Form("max_pool", ["kernel_sizes": .integers([0, 0]), "pad_type": string("same")]) { $0 },
        Form("split", ["axis": integer(1), "num_splits": integer(3)]) { $0 },
        Form("conv", ["weight": .constant(.floats([1, 2]))]) { $0 },
        Form("gather_nd", ["indices": .integers([0, 0, 0, 0, 0])]) { $0 },
        Form("gather_along_axis", ["indices": .integers([0]), "axis": integer(0)]) { $0 },
        Form("topk", ["k": integer(99)]) { $0 },
        Form(
            "resize",
            [
                "shape": .integers([9, 9]), "resized_dims": integer(2),
                "interpolation_mode": string("NEAREST_NEIGHBOR"),
                "sampling_mode": string("ALIGN_CORNERS"),
            ]
        ) { $0 },
        Form("sliding_windows", ["axis": integer(1), "size": integer(99)]) { $0 },
        Form("depth_to_space", ["block_size": integer(3)]) { $0 },
        Form("einsum", ["values": .name("x"), "equation": string("ab->a")]) { $0 },
    ])
    func refuses(_ form: Form) throws {
        let program = try program(form)
        let error = #expect(throws: ConversionError.self) {
            _ = try raise(try package(program))
        }
        #expect(error?.place.contains("(\(form.type), \"y\")") == true)
    }

    private func program(_ form: Form) throws -> MILProgram {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, [1, 4, 6, 8]))
        let y = builder.operation(
            form.type, form.parameters.merging(["x": .name(x)]) { $1 }, name: "y",
            type: MILTensorType(.float32, form.shape))
        try builder.output(y, as: "y")
        return builder.program
    }
}

private func normalized(_ x: Tensor, _ axes: [Int], _ epsilon: Float) -> Tensor {
    let centered = x - x.mean(axes: axes, keepDims: true)
    return centered / sqrt((centered * centered).mean(axes: axes, keepDims: true) + epsilon)
}
