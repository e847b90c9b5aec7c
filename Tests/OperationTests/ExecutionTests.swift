import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// What the engine is told of an execution.
@Suite struct ExecutionTests {
    @Test(arguments: [
        (Int?.none, Machine.processorCount), (1, 1), (3, 3), (0, 1), (-5, 1), (5000, 1024),
    ])
    func threadsStayInTheirRange(_ threads: Int?, expected: Int) {
        #expect(Execution(threads: threads).threadCount == expected)
        #expect(Execution(threads: threads).compileOptions.threadCount == expected)
    }

    @Test(arguments: [
        (Int?.none, Machine.memoryBytes), (1 << 20, 1 << 20), (.max, Machine.memoryBytes),
    ])
    func memoryIsLimitedByTheMachine(_ limit: Int?, expected: Int) {
        #expect(Execution(memoryLimit: limit).compileOptions.memoryLimit == expected)
    }

    @Test(arguments: Arithmetic.allCases) func theOthersArriveAsTheyAre(_ arithmetic: Arithmetic) {
        let kernels = KernelChoices(names: ["conv": "direct"])
        let options = Execution(device: .reference, arithmetic: arithmetic, kernels: kernels)
            .compileOptions
        #expect(options.device == .reference)
        #expect(options.arithmetic == arithmetic)
        #expect(options.choices == kernels)
    }

    /// An accelerator in float16 can be imitated in float64, too.
    @Test func theReferenceRoundsToHalf() throws {
        let numbers: [Float] = [0.1, -3.7, 1 / 3, 1000.5, 6e-6, 70_000]
        let values = try Execution.Device.allCases.map { device in
            let graph = Graph()
            let x = graph.input("x", [numbers.count])
            var options = CompileOptions(threads: 1)
            (options.device, options.roundsToHalf) = (device, true)
            return try (x * x).evaluate(
                inputs: ["x": TensorData(shape: x.shape, scalars: numbers)], options: options)
        }
        let halves = numbers.map { Float16($0) }
        for value in values { #expect(value.scalars == halves.map { Float($0 * $0) }) }
    }

    /// One value can be a key, and each part of it counts.
    @Test func executionsDifferByEachPart() {
        let all: Set = [
            Execution(), Execution(device: .reference), Execution(threads: 1),
            Execution(arithmetic: .float16),
            Execution(memoryLimit: 1), Execution(kernels: KernelChoices(names: ["a": "b"])),
        ]
        #expect(all.count == 6)
        #expect(all.contains(Execution(device: .cpu)))
    }
}
