import RetintCheckpoints
import RetintGraph
import RetintMLPackage
import Testing

@testable import RetintEngine
@testable import RetintRuntime

/// The one runnable model: what it computes, and the packages that it refuses for every command.
@Suite struct ModelTests {
    @Test func aPackageGivesItsColors() throws {
        let program = try Model(package(.copies)).program()
        let lightness = (0..<16).map { Float($0) }
        let colors = try program.predict(lightness: lightness)
        #expect(colors.shape == [1, 2, 4, 4])
        #expect(colors.colorPlane(0) == lightness && colors.colorPlane(1) == lightness)
    }

    @Test func colorsOfAnotherSizeAreRefused() throws {
        let error = #expect(throws: ModelError.self) { try Model(package(.twiceAsHigh)).program() }
        #expect(error?.kind == .outputSize)
        #expect(error?.description.contains("4 × 8") == true)
    }

    @Test func colorsThatAreNotFiniteAreRefused() throws {
        let program = try Model(package(.zeroByZero)).program()
        let error = #expect(throws: ModelError.self) {
            try program.predict(lightness: [Float](repeating: 50, count: 16))
        }
        #expect(error?.kind == .nonFinite)
        #expect(error?.description.contains("32 values are NaN") == true)
    }

    @Test func aPackageWithoutColorsIsRefused() throws {
        let error = #expect(throws: ModelError.self) { try Model(package(.oneChannel)).program() }
        #expect(error?.kind == .notAColorizer)
    }

    @Test func sizesThatTheModelDoesNotTakeAreRefused() throws {
        let checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 1)
        for model in [Model(checkpoint), try Model(package(.copies))] {
            let error = #expect(throws: ModelError.self) {
                try model.program(height: 50, width: 64)
            }
            #expect(error?.kind == .size)
        }
    }

    @Test func aLimitOfMemoryHolds() throws {
        let execution = Execution(memoryLimit: 64)
        let error = #expect(throws: ModelError.self) {
            try Model(package(.copies), execution: execution).program()
        }
        #expect(error?.kind == .notRunnable)
        #expect(error?.description.contains("the limit of") == true)
    }

    /// Memory is reused from step to step, but time is not.
    @Test func aLimitOfWorkHolds() throws {
        let endless = try package(.endless)
        let error = #expect(throws: ModelError.self) { try Model(endless).program() }
        #expect(error?.kind == .notRunnable)
        for words in ["2 trillion multiply-adds", "matmul", "the limit of memory"] {
            #expect(error?.description.contains(words) == true, "\(error as Any)")
        }
        let patient = Model(endless, execution: Execution(memoryLimit: 1 << 32))
        #expect(try patient.program().outputs == ["colors"])
        // A lower limit of memory leaves that of work.
        let small = try Model(package(.copies), execution: Execution(memoryLimit: 4096))
        #expect(try small.program().outputs == ["colors"])
    }

    /// The work of the networks is far from the limit.
    @Test(arguments: ["eccv16", "pico-unet", "mobile-unet"])
    func networksRunAtLargeSizes(_ name: String) throws {
        let model = Model(try Checkpoint(.named(name), seed: 1))
        let input = try model.interface.inputs[0].name
        for side in [32, 256, 2048] {
            let graph = try model.graph(shapes: [input: [1, 1, side, side]])
            #expect(4 * graph.graph.work(of: graph.outputs.map(\.value)).total < graph.workLimit)
        }
    }

    @Test(arguments: [1, 2]) func aModelRunsOnItsThreads(_ threads: Int) throws {
        let model = try Model(package(.copies), execution: Execution(threads: threads))
        #expect(try model.program().program.threads == threads)
        #expect(try model.onThreads(3).program().program.threads == 3)
    }

    /// Small inputs have a floor, larger ones a share of their own, and so have heavy weights.
    @Test(arguments: [
        (16, 0, 192.0), (256 * 256, 0, 192), (512 * 512, 0, 768), (1024 * 512, 0, 1536),
        (16, 10, 640), (512 * 512, 10, 768), (512 * 512, 20, 1280), (1024 * 512, 20, 2560),
    ])
    func usualMemoryFollowsInputAndWeights(inputs: Int, weights: Int, expected: Double) {
        let bytes = ModelGraph.usualMemory(inputCount: inputs, weightBytes: weights << 20)
        #expect(bytes == expected * 0x1p20)
    }

    @Test func checkpointsAndPackagesKnowTheirPrecision() throws {
        let checkpoint = try Checkpoint(.named("pico-unet"), seed: 1)
        let models = [Model(checkpoint), try Model(package(.copies))]
        #expect(models.map(\.precision) == [.float32, .float32])
        #expect(models.map(\.computePrecision) == [.float32, .float32])
        #expect(try models[1].preferredSize() == (4, 4))
    }
}

/// What a package of one input [1, 1, 4, 4] computes.
private enum Computation {
    /// a and b are the lightness.
    case copies
    /// The colors have twice the height of the input.
    case twiceAsHigh
    /// All colors are 0/0.
    case zeroByZero
    /// The output is the input.
    case oneChannel
    /// A product of 200 matrices of 2048 × 2048 elements is added.
    case endless
}

private func package(_ computation: Computation) throws -> MLPackage {
    var builder = MILProgramBuilder()
    func type(_ shape: [Int]) -> MILTensorType { MILTensorType(.float32, shape) }
    func concat(_ value: String, axis: Int32, _ shape: [Int]) -> String {
        builder.operation(
            "concat",
            [
                "values": .names([value, value]), "axis": .constant(.integer(axis)),
                "interleave": .constant(.bool(false)),
            ], name: "concat_\(axis)", type: type(shape))
    }
    func apply(_ operation: String, _ x: String, _ shape: [Int]) -> String {
        builder.operation(
            operation, ["x": .name(x), "y": .name(x)], name: operation, type: type(shape))
    }
    let input = builder.input("lightness", type([1, 1, 4, 4]))
    var (value, shape) = (input, [1, 2, 4, 4])
    switch computation {
    case .copies: value = concat(input, axis: 1, shape)
    case .twiceAsHigh:
        let colors = concat(input, axis: 1, shape)
        shape = [1, 2, 8, 4]
        value = concat(colors, axis: 2, shape)
    case .zeroByZero:
        let zeros = apply("sub", concat(input, axis: 1, shape), shape)
        value = apply("real_div", zeros, shape)
    case .oneChannel:
        shape = [1, 1, 4, 4]
        value = apply("add", input, shape)
    case .endless:
        let side = [1, 1, 2048, 2048]
        var product = builder.operation(
            "tile", ["x": .name(input), "reps": .constant(.integers([1, 1, 512, 512]))],
            name: "tile", type: type(side))
        for index in 0..<200 {
            product = builder.operation(
                "matmul", ["x": .name(product), "y": .name(product)], name: "product_\(index)",
                type: type(side))
        }
        let mean = builder.operation(
            "reduce_mean", ["x": .name(product), "keep_dims": .constant(.bool(false))],
            name: "mean", type: type([]))
        value = builder.operation(
            "add", ["x": .name(concat(input, axis: 1, shape)), "y": .name(mean)], name: "sum",
            type: type(shape))
    }
    try builder.output(value, as: "colors")
    func feature(_ name: String, _ shape: [Int]) -> Feature {
        Feature(name, .multiArray(ArrayFeature(.float32, shape)))
    }
    return MLPackage(
        target: .iOS15,
        description: ModelDescription(
            inputs: [feature("lightness", [1, 1, 4, 4])], outputs: [feature("colors", shape)]),
        program: builder.program)
}
