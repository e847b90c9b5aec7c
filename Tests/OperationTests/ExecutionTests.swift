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
        let options = Execution(arithmetic: arithmetic, kernels: kernels).compileOptions
        #expect(options.arithmetic == arithmetic)
        #expect(options.choices == kernels)
    }

    /// One value can be a key, and each part of it counts.
    @Test func executionsDifferByEachPart() {
        let all: Set = [
            Execution(), Execution(threads: 1), Execution(arithmetic: .float16),
            Execution(memoryLimit: 1), Execution(kernels: KernelChoices(names: ["a": "b"])),
        ]
        #expect(all.count == 5)
        #expect(all.contains(Execution(device: .cpu)))
    }
}
