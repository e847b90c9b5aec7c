import Glibc
import TensorGraph

/// The memory of a program's intermediate results, and the workspace that its kernels share.
final class ProgramMemory {
    private let arena: UnsafeMutablePointer<Float>
    let workspace: UnsafeMutablePointer<Float>
    /// Bytes of both.
    let bytes: Int

    /// Allocates the memory, and binds storages and kernels to it.
    ///
    /// - Throws: ``GraphError`` if it exceeds the budget, or the system has not that much.
    init(_ compiled: CompiledGraph, threads: Int) throws(GraphError) {
        let plan = MemoryPlan(compiled.values.placedStorages)
        let kernels = compiled.steps.map(\.kernel)
        let scratch = kernels.map { $0.workspaceCount(threads: threads) }.max() ?? 0
        func failure(_ reason: String) -> GraphError {
            GraphError(operation: "compile", reason: reason)
        }
        if let excess = compiled.values.budget.excess(plan.count + scratch) {
            throw failure("its intermediate results need \(excess)")
        }
        bytes = (plan.count + scratch) * MemoryLayout<Float>.size
        guard let arena = Self.allocate(plan.count) else {
            throw failure("its intermediate results find no memory")
        }
        guard let workspace = Self.allocate(scratch) else {
            free(arena)
            throw failure("its kernels find no memory")
        }
        (self.arena, self.workspace) = (arena, workspace)
        for (storage, offset) in plan.offsets { storage.bind(to: arena + offset) }
        for kernel in kernels { kernel.bind(threads: threads, workspace: workspace) }
    }

    deinit {
        free(arena)
        free(workspace)
    }

    private static func allocate(_ count: Int) -> UnsafeMutablePointer<Float>? {
        var memory: UnsafeMutableRawPointer?
        let count = max(count, 1)
        guard posix_memalign(&memory, 64, count * MemoryLayout<Float>.stride) == 0, let memory
        else { return nil }
        let floats = memory.bindMemory(to: Float.self, capacity: count)
        floats.initialize(repeating: 0, count: count)
        return floats
    }
}
