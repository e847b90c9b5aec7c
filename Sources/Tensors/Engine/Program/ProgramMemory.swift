import RetintCompiler
import RetintGraph

/// The memory of a program's intermediate results, and the workspace that its kernels share.
final class ProgramMemory {
    private let arena: UnsafeMutablePointer<Float>
    let workspace: UnsafeMutablePointer<Float>
    private let counts: (arena: Int, workspace: Int)
    /// What lives from run to run.
    private let owned: OwnedMemory
    /// Bytes of both.
    var bytes: Int { (counts.arena + counts.workspace) * MemoryLayout<Float>.size }

    /// Allocates the memory, and binds storages and kernels to it.
    ///
    /// - Throws: ``GraphError`` if it exceeds the budget, or the system does not have enough.
    init(_ compiled: CompiledGraph, threads: Int) throws(GraphError) {
        let plan = MemoryPlan(compiled.values.placedStorages)
        let kernels = compiled.steps.map(\.cpuKernel)
        let scratch = kernels.map { $0.workspaceCount(threads: threads) }.max() ?? 0
        func failure(_ reason: String) -> GraphError {
            GraphError(operation: "compile", reason: reason)
        }
        if let excess = compiled.values.budget.excess(plan.count + scratch) {
            throw failure("its intermediate results need \(excess)")
        }
        owned = OwnedMemory()
        for storage in compiled.values.ownedStorages where !owned.allocate(storage) {
            throw failure(
                "cannot allocate memory for constants, variables, or values computed from them")
        }
        guard let arena = FloatMemory.allocate(plan.count) else {
            throw failure("cannot allocate memory for intermediate results")
        }
        guard let workspace = FloatMemory.allocate(scratch) else {
            FloatMemory.free(arena, plan.count)
            throw failure("cannot allocate memory for kernels")
        }
        counts = (plan.count, scratch)
        (self.arena, self.workspace) = (arena, workspace)
        for (storage, offset) in plan.offsets { storage.bind(to: UInt(bitPattern: arena + offset)) }
        for storage in compiled.values.hostedStorages { storage.bindToHost() }
        for constant in compiled.values.constants { constant.buffer.load(constant.data.scalars) }
        for kernel in kernels { kernel.bind(threads: threads, workspace: workspace) }
    }

    deinit {
        FloatMemory.free(arena, counts.arena)
        FloatMemory.free(workspace, counts.workspace)
    }
}

/// Memory of single storages.
private final class OwnedMemory {
    private var blocks: [(memory: UnsafeMutablePointer<Float>, count: Int)] = []

    /// Allocates a storage's memory, filled with zeros.
    ///
    /// - Returns: whether the system has memory for it.
    func allocate(_ storage: Storage) -> Bool {
        guard let memory = FloatMemory.allocate(storage.count) else { return false }
        blocks.append((memory, storage.count))
        storage.bind(to: UInt(bitPattern: memory))
        return true
    }

    deinit {
        for (memory, count) in blocks { FloatMemory.free(memory, count) }
    }
}
