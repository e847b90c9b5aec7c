import TensorGraph

/// The memory of a program's intermediate results, and the workspace that its kernels share.
final class ProgramMemory {
    private let arena: UnsafeMutablePointer<Float>
    let workspace: UnsafeMutablePointer<Float>
    /// Bytes of both.
    let bytes: Int

    /// Allocates the memory, and binds storages and kernels to it.
    init(_ compiled: CompiledGraph, threads: Int) {
        let plan = MemoryPlan(compiled.values.placedStorages)
        let kernels = compiled.steps.map(\.kernel)
        let scratch = kernels.map { $0.workspaceCount(threads: threads) }.max() ?? 0
        bytes = (plan.count + scratch) * MemoryLayout<Float>.size
        arena = Self.allocate(plan.count)
        workspace = Self.allocate(scratch)
        for (storage, offset) in plan.offsets { storage.bind(to: arena + offset) }
        for kernel in kernels { kernel.bind(threads: threads, workspace: workspace) }
    }

    deinit {
        arena.deallocate()
        workspace.deallocate()
    }

    private static func allocate(_ count: Int) -> UnsafeMutablePointer<Float> {
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: max(count, 1) * MemoryLayout<Float>.stride, alignment: 64)
        let floats = bytes.bindMemory(to: Float.self, capacity: max(count, 1))
        floats.initialize(repeating: 0, count: max(count, 1))
        return floats
    }
}
