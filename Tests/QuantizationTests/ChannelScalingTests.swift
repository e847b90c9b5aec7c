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

    /// Planted scales of 2^±12 are repaired, so that the network computes in float16.
    @Test(arguments: [
        [0x1p12, 1, 1, 1], [0x1p-12, 1, 1, 1], [1, 0x1p12, 0x1p-12, 1], [1, 1, 0x1p12, 0x1p-12],
        [0x1p18, 0x1p-12, 0x1p12, 0x1p18],
    ] as [[Float]])
    func repairsPlantedScales(_ factors: [Float]) throws {
        let (plain, planted) = (try convolutions(), try convolutions(factors))
        let inputs = [[NamedTensor("x", image)]]
        let (repaired, report) = try planted.repairingRange(on: inputs)
        #expect(report.isExact && report.remaining.isEmpty && report.overflowingAfter == 0)
        #expect(report.scaledChannels > 0 && report.scaledConstants > 0 && !report.repaired.isEmpty)
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
