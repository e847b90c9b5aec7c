import CRetintKernels
import RetintGraph
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintEngine

/// Convolutions in 16 bits: products of 16-bit values where the CPU has them, and of weights that
/// are kept in 16 bits everywhere.
@Suite struct ArithmeticTests {
    /// The largest normalized mean square error of a layer, against float32.
    private static let bound = 1e-4

    struct Mode: Sendable, CustomTestStringConvertible {
        let arithmetic: Arithmetic
        let products: CompileOptions.HalfProducts
        let winograd: CompileOptions.Winograd
        let threads: Int
        var testDescription: String {
            "\(arithmetic) products \(products) winograd \(winograd) threads \(threads)"
        }

        var options: CompileOptions {
            var options = CompileOptions(threads: threads, winograd: winograd)
            (options.arithmetic, options.halfProducts) = (arithmetic, products)
            return options
        }
    }

    static let modes: [Mode] = [Arithmetic.float16, .bfloat16].flatMap { arithmetic in
        [CompileOptions.HalfProducts.never, .wherePossible].flatMap { products in
            [(CompileOptions.Winograd.never, 3), (.wherePossible, 1), (.wherePossible, 2)].map {
                Mode(arithmetic: arithmetic, products: products, winograd: $0.0, threads: $0.1)
            }
        }
    }

    private static let cases = OperationTable.cases.filter { $0.name.hasPrefix("conv") }

    @Test(arguments: cases.sampled("arithmetic"), modes)
    func layersAreNearFloat32(_ testCase: OperationCase, mode: Mode) throws {
        let (expected, _) = try run(testCase, CompileOptions(threads: 1, winograd: .never))
        let (values, _) = try run(testCase, mode.options)
        let error = normalizedError(values, expected)
        #expect(error <= Self.bound, "error \(error)")
    }

    /// Weights that change from run to run are rounded in each.
    @Test(
        arguments: cases.sampled("trained arithmetic"),
        modes.filter { $0.products == .wherePossible })
    func trainedLayersAreNearFloat32(_ testCase: OperationCase, mode: Mode) throws {
        let plain = CompileOptions(threads: 1, winograd: .never)
        let (expected, _) = try run(testCase, plain, isFixed: false)
        let (values, _) = try run(testCase, mode.options, isFixed: false)
        let error = normalizedError(values, expected)
        #expect(error <= Self.bound, "error \(error)")
        let isPossible = rt_half_products(mode.arithmetic.format) != RT_HALF_IMPOSSIBLE
        if isPossible, testCase.name == "conv2d 64 channels" { #expect(error > 1e-9) }
    }

    /// Rounding shows wherever the channels come in pairs.
    @Test(arguments: [
        ("conv2d 64 channels", true), ("conv2d 64 channels 1×1", true),
        ("conv2d 64 channels stride 2", true), ("conv2d 3×3 many channels", true),
        ("conv2d 17 channels", false), ("conv2d 64 channels depthwise", false),
    ])
    func layersAreRounded(_ name: String, isRounded: Bool) throws {
        let testCase = try #require(Self.cases.first { $0.name == name })
        for mode in Self.modes where mode.winograd == .never {
            let (expected, _) = try run(testCase, CompileOptions(threads: 3, winograd: .never))
            let error = normalizedError(try run(testCase, mode.options).values, expected)
            #expect(isRounded ? error > 1e-9 : error == 0, "\(mode.testDescription): \(error)")
        }
    }

    /// float16 reaches from 6e-8 to 65504 only: tensors are scaled.
    @Test(arguments: [Float(1e-12), 1e-5, 1e5, 1e12], modes)
    func anyRangeIsMultiplied(_ scale: Float, mode: Mode) throws {
        for name in ["conv2d 64 channels", "conv2d 64 channels 1×1", "conv2d 3×3 many channels"] {
            let testCase = try #require(Self.cases.first { $0.name == name })
            let plain = CompileOptions(threads: 1, winograd: .never)
            let (expected, _) = try run(testCase, plain, inputScale: scale, weightScale: 1 / scale)
            let (values, _) = try run(
                testCase, mode.options, inputScale: scale, weightScale: 1 / scale)
            #expect(normalizedError(values, expected) <= Self.bound)
        }
    }

    @Test(arguments: modes)
    func zerosStayZeros(_ mode: Mode) throws {
        let testCase = try #require(Self.cases.first { $0.name == "conv2d no bias" })
        let (values, _) = try run(testCase, mode.options, inputScale: 0)
        #expect(values.allSatisfy { $0 == 0 })
    }

    /// What is not a number, or infinite, is not hidden.
    @Test(arguments: modes.filter { $0.winograd == .never })
    func infinityIsKept(_ mode: Mode) throws {
        let testCase = try #require(Self.cases.first { $0.name == "conv2d 64 channels 1×1" })
        for value in [Float.infinity, .nan] {
            let (values, _) = try run(testCase, mode.options, first: value)
            #expect(values.contains { !$0.isFinite })
        }
    }

    /// Products are faster in 16 bits or are not computed in them.
    @Test func theFastestArithmeticIsFast() {
        #expect(Arithmetic.fastest.isFast)
        #expect(Arithmetic.float32.isFast && Arithmetic.float32.summary() == "float32")
        for arithmetic in [Arithmetic.float16, .bfloat16] {
            let speed = rt_half_products(arithmetic.format)
            #expect(arithmetic.isFast == (speed == RT_HALF_FASTER))
            #expect(
                arithmetic.summary()
                    == (arithmetic.isFast
                        ? arithmetic.rawValue : "float32, with weights in \(arithmetic.rawValue)"))
            #expect(
                arithmetic.summary(trains: true)
                    == (arithmetic.isFast ? arithmetic.rawValue : "float32"))
            #expect(arithmetic.summary(on: .cuda()) == arithmetic.rawValue)
            #expect(arithmetic.summary(on: .reference) == "float64")
        }
    }

    /// Only GPUs have units for products in TF32.
    @Test func processorsHaveNoTF32() {
        var options = CompileOptions()
        options.arithmetic = .tf32
        let x = Graph().input("x", [2])
        #expect {
            try Program(outputs: [("y", x + 1)], options: options)
        } throws: {
            "\($0)".contains("compute in float32 or bfloat16 here")
        }
    }

    /// Choices for one format say nothing about another.
    @Test func choicesAreOfOneFormat() throws {
        let graph = Graph()
        let weight = graph.variable("weight", [32, 16, 3, 3], role: .parameter)
        let y = conv2d(graph.input("x", [1, 16, 12, 12]), weight: weight, padding: 1)
        let tuner = KernelTuner()
        for mode in Self.modes where mode.threads == 2 {
            var options = mode.options
            options.tuner = tuner
            _ = try Program(outputs: [("y", y)], options: options)
        }
        // Without the instructions, both kinds of products are the same.
        let possible = [RT_FLOAT16, RT_BFLOAT16].count {
            rt_half_products($0) != RT_HALF_IMPOSSIBLE
        }
        #expect(tuner.choices.names.count == 2 + possible)
    }

    // MARK: Rows that are passed on

    @Test(arguments: modes.filter { $0.winograd == .never }, [1, 3])
    func chainsAreNearFloat32(_ mode: Mode, batch: Int) throws {
        for (side, channels) in [(40, 48), (8, 384)] {
            let graph = Graph()
            var y = graph.input("x", [batch, 32, side, side])
            for (index, (outputs, inputs, groups)) in [
                (channels, 32, 1), (channels, 1, channels), (32, channels, 1),
            ].enumerated() {
                let kernel = groups == 1 ? 1 : 3
                let weight = graph.variable(
                    "weight\(index)", [outputs, inputs, kernel, kernel], role: .parameter)
                y = relu(conv2d(y, weight: weight, padding: Padding(kernel / 2), groups: groups))
            }
            let (expected, _) = try run(graph, y, CompileOptions(threads: 1))
            let (values, steps) = try run(graph, y, mode.options)
            #expect(steps.contains { $0.contains("+conv2d_depthwise") }, "\(steps)")
            #expect(normalizedError(values, expected) <= 3 * Self.bound)
        }
    }

    // MARK: Rounding

    @Test func halvesAreRoundedAsSwiftRounds() {
        // The largest below 16 leaves the scale at 1.
        var floats = [Float](repeating: 8, count: 2 * panelWidth)
        var random: UInt64 = 1
        let memory = UnsafeMutablePointer<Float>.allocate(
            capacity: HalfPanel.count(floats.count))
        let back = UnsafeMutablePointer<Float>.allocate(capacity: floats.count)
        defer {
            memory.deallocate()
            back.deallocate()
        }
        let panel = HalfPanel(memory: memory)
        for _ in 0..<2000 {
            for index in 1..<floats.count {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                // All exponents of float16, its subnormal values and what is too small for it; few
                // bits, so that values lie in the middle between two others.
                let exponent = UInt32(100 + (random >> 33) % 30)
                let (sign, fraction) = (
                    UInt32(random >> 63) << 31, UInt32(random >> 40) % (1 << 13)
                )
                floats[index] = Float(bitPattern: sign | exponent << 23 | fraction << 10)
            }
            for format in [RT_FLOAT16, RT_BFLOAT16] {
                panel.fill(from: floats, runs: 1, rows: 2, step: 0, halfStep: 0, format)
                panel.unpack(2, into: back, format)
                #expect(panel.unscale == 1)
                for index in floats.indices {
                    let expected = rounded(floats[index], format)
                    guard back[index] != expected else { continue }
                    Issue.record("\(floats[index]) became \(back[index]), not \(expected)")
                    return
                }
            }
        }
    }

    private func rounded(_ x: Float, _ format: rt_format) -> Float {
        if format == RT_FLOAT16 { return Float(Float16(x)) }
        let bits = x.bitPattern
        return Float(bitPattern: (bits &+ 0x7fff &+ (bits >> 16 & 1)) & 0xffff_0000)
    }

    // MARK: Running

    /// Runs a case whose weights and bias are fixed.
    private func run(
        _ testCase: OperationCase, _ options: CompileOptions, inputScale: Float = 1,
        weightScale: Float = 1, first: Float? = nil, isFixed: Bool = true
    ) throws -> (values: [Float], steps: [String]) {
        let graph = Graph()
        let inputs = testCase.inputs.enumerated().map { index, input in
            index == 0 || !isFixed
                ? graph.input("input \(index)", input.shape)
                : graph.variable("input \(index)", input.shape, role: .parameter)
        }
        let output = try testCase.build(inputs)
        let program = try Program(outputs: [("y", output)], options: options)
        let feeds = CaseValues.all(of: testCase, outputShape: output.shape)
        var variables: [String: TensorData] = [:]
        for shape in program.variableShapes {
            let scale = shape.name == "input 1" ? weightScale : 1
            variables[shape.name] = TensorData(
                shape: shape.shape, scalars: feeds[shape.name]!.map { $0 * scale })
        }
        try program.load(variables)
        var x = feeds["input 0"]!.map { $0 * inputScale }
        if let first { x[0] = first }
        var arguments = ["input 0": TensorData(shape: inputs[0].shape, scalars: x)]
        for (index, input) in inputs.enumerated().dropFirst() where !isFixed {
            arguments["input \(index)"] = TensorData(
                shape: input.shape, scalars: feeds["input \(index)"]!)
        }
        let result = try program.run(arguments)
        return (try #require(result["y"]).scalars, program.stepNames)
    }

    private func run(
        _ graph: Graph, _ y: Tensor, _ options: CompileOptions
    ) throws -> (values: [Float], steps: [String]) {
        let program = try Program(outputs: [("y", y)], options: options)
        func numbers(_ shape: Shape) -> TensorData {
            TensorData(
                shape: shape,
                scalars: (0..<shape.count).map { Float($0 * 7919 % 997) / 997 - 0.45 })
        }
        try program.load(
            Dictionary(
                uniqueKeysWithValues: program.variableShapes.map { ($0.name, numbers($0.shape)) }))
        let x = numbers(graph.nodes[0].shape)
        return (try #require(try program.run(["x": x])["y"]).scalars, program.stepNames)
    }
}
