import CRetintAllocationCounter
import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensors
import Testing

@testable import RetintEngine

/// What a run may cost, in things that can be counted: memory asked for, and the kernels chosen.
@Suite struct BudgetTests {
    @Test func countsAllocations() {
        let before = allocations_of_this_thread()
        let numbers = [Int](repeating: 1, count: Int.random(in: 100...200))
        #expect(numbers.count >= 100)
        #expect(allocations_of_this_thread() > before)
    }

    @Test(arguments: colorizerNames, [true, false])
    func stepsAllocateNothing(_ name: String, trains: Bool) throws {
        // One thread, so that all is done, and counted, on this one.
        let program = try program(name, trains: trains, batch: 2, size: 64, threads: 1)
        program.runSteps()
        // The fewest of three runs: Swift's runtime may fill its caches again after other tests.
        let allocations = (0..<3).map { _ in
            let before = allocations_of_this_thread()
            program.runSteps()
            return allocations_of_this_thread() - before
        }
        #expect(allocations.min() == 0)
    }

    /// Of the steps that multiply, how many there are of each kind.
    static let kernels: [(name: String, trains: Bool, counts: [String: Int])] = [
        (
            "eccv16", false,
            ["conv2d_winograd": 18, "conv2d_panels": 5, "conv2d_few_outputs": 1]
        ),
        (
            "siggraph17", false,
            ["conv2d_winograd": 28, "conv2d_panels": 1, "conv2d_few_outputs": 1]
        ),
        (
            "mobile-unet", false,
            [
                "conv2d_winograd": 3, "conv2d_panels": 28, "conv2d_depthwise": 11,
                "conv2d_few_outputs": 1,
            ]
        ),
        (
            "mobile-unet", true,
            [
                "conv2d_winograd": 6, "conv2d_panels": 56, "conv2d_depthwise": 11,
                "conv2d_few_outputs": 1, "conv_transpose2d_depthwise": 11,
                "conv2d_weight": 32, "conv2d_weight_depthwise": 11,
            ]
        ),
    ]

    @Test(arguments: kernels)
    func kernelsAreThoseThatWereMeasured(
        _ name: String, trains: Bool, counts: [String: Int]
    ) throws {
        let program = try program(name, trains: trains, batch: 1, size: 256, threads: 2)
        let names = program.stepNames.flatMap { $0.split(separator: "+").map(String.init) }
            .filter { $0.hasPrefix("conv") }
        #expect(Dictionary(grouping: names) { $0 }.mapValues(\.count) == counts)
    }

    /// Inverted residuals at inference: no expanded result is ever whole.
    @Test func convolutionsFollowEachOtherRowByRow() throws {
        let program = try program("mobile-unet", trains: false, batch: 8, size: 256, threads: 2)
        let chain = "conv2d_panels+conv2d_depthwise+conv2d_panels"
        #expect(program.stepNames.filter { $0 == chain }.count == 9)
        #expect(program.arenaBytes < 40 << 20)
    }

    /// All parameters are updated in one step, and in their own memory.
    @Test func updatesAreFused() throws {
        let program = try program("mobile-unet", trains: true, batch: 2, size: 64, threads: 2)
        let updates = program.stepNames.filter { $0.contains("sqrt") && $0.contains("sub+mul+add") }
        #expect(updates.count == 1)
        #expect(!program.stepNames.contains("copy"))
    }

    /// Activations computed twice: a quarter of the memory less at least, and the same weights.
    @Test func recomputationSavesMemory() throws {
        let plain = try program("mobile-unet", trains: true, batch: 4, size: 128, threads: 2)
        let twice = try program(
            "mobile-unet", trains: true, batch: 4, size: 128, threads: 2, recomputes: true)
        #expect(twice.arenaBytes < plain.arenaBytes * 3 / 4)
        var losses: [[Float]] = []
        for program in [plain, twice] {
            try program.load(weights(program))
            losses.append(
                try (0..<3).compactMap { _ in try program.run(photos)["loss"]?.scalars[0] })
        }
        for (first, second) in zip(losses[0], losses[1]) {
            #expect(abs(first - second) <= 1e-5 * abs(first))
        }
        #expect(losses[0].count == 3 && losses[0][0] > losses[0][2])
    }

    private var photos: [String: TensorData] {
        func values(_ shape: Shape, _ scale: Float) -> TensorData {
            TensorData(
                shape: shape, scalars: (0..<shape.count).map { scale * Float($0 * 37 % 101) / 101 })
        }
        return [
            "lightness": values([4, 1, 128, 128], 100), "target": values([4, 2, 128, 128], 40),
        ]
    }

    private func weights(_ program: Program) throws -> [String: TensorData] {
        let network = try NetworkDescription.named("mobile-unet").make()
        var values = StateSpec(of: network).initialValues(seed: 1)
        for (name, shape) in program.variableShapes where values[name] == nil {
            values[name] = TensorData(shape: shape, repeating: 0)
        }
        values["learning_rate"] = TensorData(scalar: 1e-3)
        return values
    }

    private func program(
        _ name: String, trains: Bool, batch: Int, size: Int, threads: Int, recomputes: Bool = false
    ) throws -> Program {
        let network = try NetworkDescription.named(name).make()
        let graph = Graph(mode: trains ? .training : .inference)
        let output = network(graph.input("lightness", [batch, 1, size, size]))
        guard trains else {
            return try Program(outputs: [("ab", output)], options: .init(threads: threads))
        }
        let loss = mseLoss(output, graph.input("target", [batch, 2, size, size]))
        let parameters = graph.parameters
        Adam().apply(
            parameters: parameters,
            gradients: try gradients(of: loss, withRespectTo: parameters),
            learningRate: graph.learningRate)
        var options = CompileOptions(threads: threads)
        options.recomputes = recomputes
        return try Program(outputs: [("loss", loss)], options: options)
    }
}

extension Program {
    /// The names of a run's steps, in order.
    fileprivate var stepNames: [String] { steps.map(\.kernel.name) }
}
