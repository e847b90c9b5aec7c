import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// Elementwise programs that run as one step.
@Suite struct ElementwiseBatchTests {
    /// A thread that runs one program does not touch the memory in which another thread still
    /// computes another one: programs need different amounts, and a step of an optimizer was not
    /// the same from run to run.
    @Test func threadsHaveTheirOwnMemory() throws {
        let graph = Graph()
        let isFinite = graph.input("flag", .scalar)
        for (name, count) in [("large", 5000), ("small", 1)] {
            let variable = graph.variable(name, [count], role: .parameter)
            let gradient = graph.input("gradient.\(name)", [count])
            let next = variable - 0.1 * gradient / (sqrt(gradient * gradient + 1e-6) + 1e-8)
            graph.update(variable, to: select(isFinite, next, variable))
        }
        let program = try Program(
            outputs: [("flag", isFinite + 1)], options: CompileOptions(threads: 2))
        let kernels = program.steps.compactMap { $0.kernel as? ElementwiseKernel }
            .filter { $0.batchablePrograms.count > 1 }
        let kernel = try #require(kernels.first)
        let sizes = Set(kernel.batchablePrograms.map(\.scratchPerThread))
        let threads = 2
        let count = kernel.workspaceCount(threads: threads)
        #expect(count > 0 && sizes.count > 1, "\(sizes)")
        let workspace = UnsafeMutablePointer<Float>.allocate(capacity: count)
        defer { workspace.deallocate() }
        for thread in 0..<threads {
            workspace.initialize(repeating: -7, count: count)
            kernel.bind(threads: threads, workspace: workspace)
            kernel.run(phase: 0, part: Part(index: thread, of: threads), workspace)
            let other = 1 - thread
            let share = count / threads
            for index in other * share..<(other + 1) * share {
                #expect(workspace[index] == -7, "thread \(thread), \(index)")
            }
        }
    }
}
