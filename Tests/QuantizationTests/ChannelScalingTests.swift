import Foundation
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors
import Testing

@testable import RetintQuantization

/// Powers of two that move between weights.
@Suite struct ChannelScalingTests {
    private let image = pseudorandomValues([1, 4, 8, 8], seed: 9)

    /// conv → relu → depthwise conv → batch norm → leaky relu → max pool → upsampling → concat with
    /// a sum → grouped conv → pixel shuffle → conv.
    private func convolutions(_ factors: [Float] = [1, 1, 1, 1]) throws -> MLPackage {
        var net = Sketch(input: [1, 4, 8, 8])
        let inverse = factors.map { 1 / $0 }
        var x = net.conv(
            .name("x"), net.numbers([8, 4, 3, 3], [factors[0]]), net.numbers([8], [factors[0]]),
            [1, 8, 8, 8], kernel: 3)
        x = net.add("relu", ["x": x], [1, 8, 8, 8])
        x = net.conv(
            x, net.numbers([8, 1, 3, 3], [inverse[0] * factors[1]]),
            net.numbers([8], [factors[1]]), [1, 8, 8, 8], kernel: 3, groups: 8)
        let variance = net.constant(.floats([Float](repeating: 0.5, count: 8)))
        x = net.add(
            "batch_norm",
            [
                "x": x, "mean": net.numbers([8], [factors[1]]), "variance": variance,
                "gamma": net.numbers([8], [factors[2] * inverse[1]]),
                "beta": net.numbers([8], [factors[2]]),
                "epsilon": net.constant(.float(1e-3)),
            ], [1, 8, 8, 8])
        x = net.add(
            "leaky_relu", ["x": x, "alpha": net.constant(.float(0.1))], [1, 8, 8, 8])
        let pooled = net.add(
            "max_pool",
            [
                "x": x, "kernel_sizes": net.constant(.integers([2, 2])),
                "strides": net.constant(.integers([2, 2])),
                "pad_type": net.constant(.string("valid")),
                "pad": net.constant(.integers([0, 0, 0, 0])),
                "ceil_mode": net.constant(.bool(false)),
            ], [1, 8, 4, 4])
        let large = net.add(
            "upsample_nearest_neighbor",
            [
                "x": pooled, "scale_factor_height": net.constant(.float(2)),
                "scale_factor_width": net.constant(.float(2)),
            ], [1, 8, 8, 8])
        let sum = net.add("add", ["x": x, "y": large], [1, 8, 8, 8])
        let joined = concat(&net, [sum, x], [1, 16, 8, 8])
        x = net.conv(
            joined, net.numbers([8, 8, 1, 1], [inverse[2] * factors[3]]),
            net.numbers([8], [factors[3]]), [1, 8, 8, 8], groups: 2)
        x = net.add(
            "pixel_shuffle", ["x": x, "upscale_factor": net.constant(.integer(2))], [1, 2, 16, 16])
        let y = net.conv(
            x, net.numbers([2, 2, 1, 1], [inverse[3]]), net.numbers([2]), [1, 2, 16, 16])
        return try net.package(returning: y)
    }

    private func concat(
        _ net: inout Sketch, _ parts: [MILArgument], _ shape: [Int]
    ) -> MILArgument {
        let inputs = [
            "axis": net.constant(.integer(1)),
            "interleave": net.constant(.bool(false)),
        ]
        return net.add("concat", inputs, shape, listing: parts)
    }

    /// Layer norm in parts, matmul, linear, transpose, reshape, a gate.
    private func tokens() throws -> MLPackage {
        var net = Sketch(input: [1, 4, 8, 8])
        var x = net.conv(.name("x"), net.numbers([6, 4, 1, 1]), net.numbers([6]), [1, 6, 8, 8])
        x = net.add(
            "reshape", ["x": x, "shape": net.constant(.integers([1, 6, 64]))], [1, 6, 64])
        x = net.add(
            "transpose", ["x": x, "perm": net.constant(.integers([0, 2, 1]))], [1, 64, 6])
        let normal = net.add(
            "layer_norm",
            [
                "x": x, "axes": net.constant(.integers([-1])), "gamma": net.numbers([6]),
                "beta": net.numbers([6]), "epsilon": net.constant(.float(1e-5)),
            ], [1, 64, 6])
        let no = net.constant(.bool(false))
        var y = net.add(
            "matmul",
            ["x": normal, "y": net.numbers([6, 12]), "transpose_x": no, "transpose_y": no],
            [1, 64, 12])
        y = net.add("add", ["x": y, "y": net.numbers([12])], [1, 64, 12])
        y = net.add("relu", ["x": y], [1, 64, 12])
        let gate = net.add("sigmoid", ["x": normal], [1, 64, 6])
        var z = net.add(
            "linear", ["x": y, "weight": net.numbers([6, 12]), "bias": net.numbers([6])],
            [1, 64, 6])
        z = net.add("mul", ["x": z, "y": gate], [1, 64, 6])
        z = net.add("mul", ["x": z, "y": net.numbers([6])], [1, 64, 6])
        let out = net.add(
            "linear", ["x": z, "weight": net.numbers([3, 6]), "bias": net.numbers([3])],
            [1, 64, 3])
        return try net.package(returning: out)
    }

    /// Whatever the exponents of the classes that are free, no bit of the output changes.
    @Test(arguments: [0, 1]) func scalingIsExact(_ network: Int) throws {
        let package = try network == 0 ? convolutions() : tokens()
        let classes = ChannelClasses(package.program)
        let free = Set((0..<classes.count).map(classes.root)).filter { !classes.isFixed($0) }
        // Each network has at least these channels with a factor of their own.
        #expect(free.count >= (network == 0 ? 26 : 24), "\(free.count)")
        var scaling = ChannelScaling(classes)
        for (index, id) in free.sorted().enumerated() {
            scaling.set(id, to: (index * 5 + 2) % 9 - 4)
        }
        var scaled = package
        scaled.program = try scaling.scaledProgram()
        #expect(scaled.program != package.program)
        let (before, after) = (try package.output(image), try scaled.output(image))
        #expect(before.map(\.bitPattern) == after.map(\.bitPattern))
        #expect(before.contains { $0 != 0 })
        #expect(try scaling.scaledProgram().operations.count <= package.program.operations.count)
    }

    /// Operations whose parameters decide which channels meet: where a rule does not hold, it must
    /// leave the factors at 1.
    @Test(arguments: [
        "interleave", "first axis", "raised rank", "vector of raised rank", "tokens", "pad", "bias",
    ])
    func parametersAreLookedAt(_ name: String) throws {
        let package = try self.package(name)
        var scaling = ChannelScaling(ChannelClasses(package.program))
        for id in 0..<scaling.classes.count { scaling.set(id, to: id * 5 % 9 - 4) }
        var scaled = package
        scaled.program = try scaling.scaledProgram()
        let (before, after) = (try package.output(image), try scaled.output(image))
        #expect(before.map(\.bitPattern) == after.map(\.bitPattern))
    }

    private func package(_ name: String) throws -> MLPackage {
        var net = Sketch(input: [1, 4, 8, 8])
        var x = net.conv(.name("x"), net.numbers([8, 4, 1, 1]), net.numbers([8]), [1, 8, 8, 8])
        switch name {
        case "interleave":
            let other = net.conv(
                .name("x"), net.numbers([8, 4, 1, 1]), net.numbers([8]), [1, 8, 8, 8])
            let inputs = [
                "axis": net.constant(.integer(1)), "interleave": net.constant(.bool(true)),
            ]
            x = net.add("concat", inputs, [1, 16, 8, 8], listing: [x, other])
            x = net.conv(x, net.numbers([2, 16, 1, 1]), net.numbers([2]), [1, 2, 8, 8])
        case "first axis":
            x = net.add(
                "layer_norm",
                [
                    "x": x, "axes": net.constant(.integers([1])), "gamma": net.numbers([8]),
                    "beta": net.numbers([8]), "epsilon": net.constant(.float(1e-3)),
                ], [1, 8, 8, 8])
            x = net.conv(x, net.numbers([2, 8, 1, 1]), net.numbers([2]), [1, 2, 8, 8])
        case "raised rank", "vector of raised rank":
            let isSum = name == "raised rank"
            x = net.add("reshape", ["x": x, "shape": net.constant(.integers([64, 8]))], [64, 8])
            x = net.add(
                "linear", ["x": x, "weight": net.numbers([64, 8]), "bias": net.numbers([64])],
                [64, 64])
            x = net.add(
                isSum ? "add" : "mul",
                ["x": x, "y": net.numbers(isSum ? [1, 64, 64] : [1, 64, 1])],
                [1, 64, 64])
            x = net.add(
                "linear", ["x": x, "weight": net.numbers([2, 64]), "bias": net.numbers([2])],
                [1, 64, 2])
        case "tokens":
            x = net.add(
                "reshape", ["x": x, "shape": net.constant(.integers([1, 64, 8]))], [1, 64, 8])
            x = net.add(
                "linear", ["x": x, "weight": net.numbers([8, 8]), "bias": net.numbers([8])],
                [1, 64, 8])
            x = net.add(
                "avg_pool",
                [
                    "x": x, "kernel_sizes": net.constant(.integers([3])),
                    "strides": net.constant(.integers([1])),
                    "pad": net.constant(.integers([1, 1])),
                    "pad_type": net.constant(.string("custom")),
                    "exclude_padding_from_average": net.constant(.bool(true)),
                    "ceil_mode": net.constant(.bool(false)),
                ], [1, 64, 8])
            x = net.add(
                "linear", ["x": x, "weight": net.numbers([2, 8]), "bias": net.numbers([2])],
                [1, 64, 2])
        case "pad":
            x = net.add(
                "pad",
                [
                    "x": x, "pad": net.constant(.integers([1, 1, 1, 1])),
                    "mode": net.constant(.string("constant")), "constant_val": .value(.float(5)),
                ], [1, 8, 10, 10])
            x = net.conv(x, net.numbers([2, 8, 1, 1]), net.numbers([2]), [1, 2, 10, 10])
        default:
            x = net.add(
                "reshape", ["x": x, "shape": net.constant(.integers([1, 64, 8]))], [1, 64, 8])
            x = net.add(
                "linear", ["x": x, "weight": net.numbers([8, 8]), "bias": net.numbers([1])],
                [1, 64, 8])
            x = net.add(
                "linear", ["x": x, "weight": net.numbers([2, 8]), "bias": net.numbers([2])],
                [1, 64, 2])
        }
        return try net.package(returning: x)
    }

    /// Planted scales of 2^±12 are repaired, so that the network computes in float16.
    @Test(
        arguments: [
            [0x1p12, 1, 1, 1], [0x1p-12, 1, 1, 1], [1, 0x1p12, 0x1p-12, 1],
            [1, 1, 0x1p12, 0x1p-12],
            [0x1p18, 0x1p-12, 0x1p12, 0x1p18],
        ] as [[Float]])
    func repairsPlantedScales(_ factors: [Float]) throws {
        let (plain, planted) = (try convolutions(), try convolutions(factors))
        let inputs = [[NamedTensor("x", image)]]
        let (repaired, report) = try planted.repairingRange(on: inputs)
        #expect(report.isExact && report.remaining.isEmpty && report.overflowingAfter == 0)
        #expect(report.scaledChannels > 0 && report.scaledConstants > 0)
        #expect(report.repaired.isEmpty == (factors[0] == 0x1p12))
        #expect((report.overflowingBefore > 0) == factors.contains { $0 > 0x1p15 })
        let expected = try planted.output(image)
        #expect(try repaired.output(image) == expected)
        let half = try repaired.output(image, rounding: .every)
        #expect(snr(expected, half) > 50)
        // As good as the network without planted scales.
        let own = snr(try plain.output(image), try plain.output(image, rounding: .every))
        #expect(snr(expected, half) > own - 6)
    }

    /// A package that needs no repair is returned as it is; a value without a way out is named.
    @Test func saysWhatCannotBeRepaired() throws {
        let plain = try convolutions()
        let (same, nothing) = try plain.repairingRange(on: [[NamedTensor("x", image)]])
        #expect(same == plain && nothing.scaledChannels == 0 && nothing.repaired.isEmpty)
        var net = Sketch(input: [1, 4, 8, 8])
        let x = net.conv(
            .name("x"), net.numbers([2, 4, 1, 1], [0x1p20]), net.numbers([2]), [1, 2, 8, 8])
        let y = net.add("sigmoid", ["x": x], [1, 2, 8, 8])
        let (_, report) = try net.package(returning: y).repairingRange(
            on: [[NamedTensor("x", image)]])
        #expect(report.remaining.map(\.operation) == ["conv"])
        #expect(report.overflowingBefore == 2 && report.overflowingAfter == 2)
        #expect(throws: ConversionError.self) { try plain.repairingRange(on: []) }
    }

    /// A large value takes its partner in a sum no further down than it must; numbers that are too
    /// small under a sigmoid, and a variance that float16 cannot hold, are named.
    @Test func namesWhatStays() throws {
        var net = Sketch(input: [1, 4, 8, 8])
        func convolution(_ factor: Float, _ net: inout Sketch) -> MILArgument {
            net.conv(
                .name("x"), net.numbers([2, 4, 1, 1], [factor]), net.numbers([2], [factor]),
                [1, 2, 8, 8])
        }
        let (large, small) = (convolution(0x1p17, &net), convolution(0.25, &net))
        var sum = net.add("add", ["x": large, "y": small], [1, 2, 8, 8])
        sum = net.conv(
            sum, net.numbers([2, 2, 1, 1], [0x1p-12]), net.numbers([2]), [1, 2, 8, 8])
        let tiny = net.add("sigmoid", ["x": convolution(0x1p-20, &net)], [1, 2, 8, 8])
        let normal = net.add(
            "batch_norm",
            [
                "x": convolution(1, &net), "mean": net.numbers([2]),
                "variance": net.constant(.floats([1e6, 1e6])), "gamma": net.numbers([2]),
                "beta": net.numbers([2]), "epsilon": net.constant(.float(1e-3)),
            ], [1, 2, 8, 8])
        let parts = net.add("mul", ["x": tiny, "y": normal], [1, 2, 8, 8])
        let y = net.add("add", ["x": sum, "y": parts], [1, 2, 8, 8])
        let (_, report) = try net.package(returning: y).repairingRange(
            on: [[NamedTensor("x", image)]])
        #expect(report.isExact)
        let before = report.repaired.filter { $0.before > 65504 }
        #expect(!before.isEmpty && before.allSatisfy { $0.after >= 0x1p11 && $0.after < 0x1p12 })
        #expect(report.remaining.contains { $0.operation == "conv" && $0.before < 0x1p-16 })
        #expect(report.remaining.contains { $0.operation == "const" && $0.after == 1e6 })
        #expect(report.overflowingAfter == 1)
    }

    /// Means and pooled windows of numbers that fit float16, whose sums do not.
    @Test(arguments: ["reduce_mean", "reduce_sum", "avg_pool"])
    func sumsInsideOperationsFit(_ type: String) throws {
        let (side, image) = (32, pseudorandomValues([1, 4, 32, 32], seed: 1))
        var net = Sketch(input: [1, 4, side, side])
        func average(_ x: MILArgument, _ channels: Int, _ net: inout Sketch) -> MILArgument {
            guard type == "avg_pool" else {
                return net.add(
                    type,
                    [
                        "x": x, "axes": net.constant(.integers([-1, 2])),
                        "keep_dims": net.constant(.bool(true)),
                    ], [1, channels, 1, 1])
            }
            let all = net.constant(.integers([Int32(side), Int32(side)]))
            return net.add(
                type,
                [
                    "x": x, "kernel_sizes": all, "strides": all,
                    "pad_type": net.constant(.string("valid")),
                    "exclude_padding_from_average": net.constant(.bool(true)),
                ], [1, channels, 1, 1])
        }
        var x = net.conv(
            .name("x"), net.numbers([6, 4, 1, 1], [0, 0, 3e2, 0, 5e4, 0]),
            net.numbers([6], [1, 1, 3e2, 1, 1e2, 1]), [1, 6, side, side])
        x = average(net.add("relu", ["x": x], [1, 6, side, side]), 6, &net)
        x = net.conv(x, net.numbers([2, 6, 1, 1], [1e-3]), net.numbers([2]), [1, 2, 1, 1])
        let package = try net.package(returning: x)
        let (repaired, report) = try package.repairingRange(on: [[NamedTensor("x", image)]])
        #expect(report.isExact)
        let sums = (report.repaired + report.remaining).filter { $0.operation == "sum of \(type)" }
        let sum = try #require(sums.count == 1 ? sums[0] : nil)
        #expect(sum.before > 65504 && report.remaining.isEmpty)
        #expect(report.overflowingBefore > 0 && report.overflowingAfter == 0)
        // A sum that is a value itself is made smaller than the others, like all values.
        let (least, most): (Float, Float) =
            type == "reduce_sum" ? (0x1p11, 0x1p12) : (0x1p14, 0x1p15)
        #expect((least..<most).contains(sum.after))
        #expect(try repaired.output(image) == package.output(image))
    }

    /// Shapes that a damaged file declares neither trap nor take memory.
    @Test(arguments: [0, 1 << 44]) func absurdShapesAreLeftAlone(_ channels: Int) throws {
        var net = Sketch(input: [1, 4, 8, 8])
        let x = net.conv(
            .name("x"), net.numbers([2, 4, 1, 1]), net.numbers([2]), [1, channels, 8, 8])
        let none = net.constant(.floats([], shape: [0, channels, 1, 1]))
        let y = net.conv(x, none, net.numbers([2]), [1, 2, 8, 8], groups: 1 << 30)
        let inputs = [
            "axis": net.constant(.integer(-9)), "interleave": net.constant(.bool(false)),
        ]
        let joined = net.add("concat", inputs, [1, channels, 8, 8], listing: [x, .name("x")])
        let sum = net.add("add", ["x": x, "y": .name("x")], [1, channels, 8, 8])
        let shuffled = net.add(
            "pixel_shuffle", ["x": sum, "upscale_factor": net.constant(.integer(0))], [1])
        let moved = net.add(
            "transpose", ["x": joined, "perm": net.constant(.integers([7, -9]))], [1])
        var program = try net.package(returning: y).program
        program.outputs += [shuffled, moved].compactMap(\.name)
        let classes = ChannelClasses(program)
        #expect(classes.count < 100)
        var scaling = ChannelScaling(classes)
        for id in 0..<classes.count { scaling.set(id, to: .max) }
        _ = try scaling.scaledProgram()
    }

    /// Weights keep their names, by which plans refer to them.
    @Test func weightsKeepTheirNames() throws {
        let planted = try convolutions([0x1p18, 1, 1, 1])
        let (repaired, report) = try planted.repairingRange(on: [[NamedTensor("x", image)]])
        #expect(report.scaledConstants >= 3)
        #expect(repaired.weights.map(\.name) == planted.weights.map(\.name))
        #expect(repaired.weights.map(\.value) != planted.weights.map(\.value))
    }

    /// Channels with unlike ranges get one scale with less error.
    @Test func smoothingHelpsUnlikeChannels() throws {
        var net = Sketch(input: [1, 4, 8, 8])
        let ranges = (0..<8).map { exp2(Float($0)) }
        var x = net.conv(
            .name("x"), net.numbers([8, 4, 1, 1], ranges), net.numbers([8]), [1, 8, 8, 8])
        x = net.add("relu", ["x": x], [1, 8, 8, 8])
        // Small channels matter as much as large ones.
        let weight = pseudorandomValues([4, 8, 1, 1], seed: 77).scalars.enumerated().map {
            $1 / ranges[$0 % 8]
        }
        let y = net.conv(
            x, net.constant(.floats(weight, shape: [4, 8, 1, 1])), net.numbers([4]), [1, 4, 8, 8])
        let package = try net.package(returning: y)
        let inputs = [[NamedTensor("x", image)]]
        var plan = QuantizationPlan(.init(.int8), activations: .init())
        let plain = try package.quantized(plan, calibration: inputs).package.output(image)
        plan.smoothing = 0.5
        let smooth = try package.quantized(plan, calibration: inputs).package.output(image)
        let expected = try package.output(image)
        #expect(snr(expected, smooth) > snr(expected, plain) + 6)
    }
}

/// The SNR in dB.
func snr(_ expected: [Float], _ computed: [Float]) -> Double {
    let power = zip(expected, computed).reduce(into: (0.0, 0.0)) {
        $0.0 += Double($1.0) * Double($1.0)
        $0.1 += Double($1.0 - $1.1) * Double($1.0 - $1.1)
    }
    return power.1 == 0 ? .infinity : 10 * log10(power.0 / power.1)
}
