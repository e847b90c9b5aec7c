import RetintGraph
import Testing

@testable import RetintEngine

/// Programs that need more memory than they may have are refused, and not started.
@Suite struct MemoryLimitTests {
    private func compile(limit: Int, _ build: (Graph) -> Tensor) throws {
        var options = CompileOptions()
        options.memoryLimit = limit
        _ = try Program(outputs: [("y", build(Graph()))], options: options)
    }

    private func expectRefusal(
        _ fragment: String, limit: Int = Machine.memoryBytes,
        location: SourceLocation = #_sourceLocation, _ build: (Graph) -> Tensor
    ) throws {
        let error = #expect(throws: GraphError.self, sourceLocation: location) {
            try compile(limit: limit, build)
        }
        #expect(
            error?.reason.contains(fragment) == true, "\(error as Any)", sourceLocation: location)
    }

    /// Variables count together, what a run needs by its largest value and by the plan.
    @Test func whatIsNeededIsCounted() throws {
        let megabyte = 1 << 20
        func sum(_ graph: Graph) -> Tensor {
            let a = graph.variable("a", [1 << 18], role: .setting)
            let b = graph.variable("b", [1 << 18], role: .setting)
            return softmax(a + b + graph.input("x", [1 << 18]), axis: 0)
        }
        try compile(limit: 8 * megabyte, sum)
        try expectRefusal("needs 1 MiB, and 0 MiB of the limit of 1 MiB", limit: megabyte, sum)
        try expectRefusal("intermediate results need", limit: 2 * megabyte + 4096) { graph in
            let a = graph.variable("a", [1 << 18], role: .setting)
            return softmax(a, axis: 0) + softmax(graph.input("x", [1 << 18]), axis: 0)
        }
    }

    /// A value larger than the machine is named, with its shape.
    @Test func moreThanTheMachineHasIsRefused() throws {
        try expectRefusal("its value of shape [1073741824, 512] needs 2097152 MiB") { graph in
            softmax(graph.input("x", [1 << 30, 512]), axis: 0)
        }
        try expectRefusal("its value of shape [1073741824, 512]") { graph in
            graph.variable("w", [1 << 30, 512], role: .parameter) * 2
        }
    }

    /// A limit that the system cannot keep is an error of the program, not the end of the process.
    @Test func aFailedAllocationIsAnError() throws {
        try expectRefusal("cannot allocate", limit: .max) { graph in
            graph.variable("w", [1 << 30, 1 << 10], role: .parameter) * 2
        }
    }
}
