import RetintCompiler

/// The memory of a program on a GPU: values of a run, values that live from run to run, and what
/// the calls of one step use.
final class DeviceProgramMemory {
    private let memory: DeviceMemory
    /// Where the memory of a step begins.
    let workspace: UInt
    /// Bytes of intermediate results, copies in 16 bits, and workspace.
    let runBytes: Int

    private static let alignment = 256

    /// Allocates the memory, and binds the storages to it.
    ///
    /// - Throws: ``CUDAError`` if the GPU does not have as much.
    init(
        _ compiled: CompiledGraph, _ steps: [StepCalls], _ copies: [Storage], on gpu: GPU
    ) throws(CUDAError) {
        let values = compiled.values
        let ownedStorages = values.ownedStorages + copies
        let plan = MemoryPlan(values.placedStorages)
        let arena = Self.aligned(4 * plan.count)
        let owned = Self.bytes(of: ownedStorages)
        let stepBytes = steps.map { Self.scratchBytes(of: $0) + $0.workspaceBytes }.max() ?? 0
        let bytes = arena + owned + stepBytes
        let (free, total) = try gpu.memory()
        guard bytes <= free else {
            throw CUDAError(
                "the program needs \(Self.text(bytes)), and \(gpu.name) has \(Self.text(free)) of "
                    + "\(Self.text(total)) left; take a smaller batch or image, recompute, or use "
                    + "bfloat16")
        }
        memory = try DeviceMemory(bytes: bytes, on: gpu)
        runBytes = arena + stepBytes + Self.bytes(of: copies)
        workspace = memory.address + UInt(arena + owned)
        for (storage, offset) in plan.offsets {
            storage.bind(to: memory.address + UInt(4 * offset))
        }
        var end = memory.address + UInt(arena)
        for storage in ownedStorages {
            storage.bind(to: end)
            end += UInt(Self.aligned(4 * storage.words))
        }
        for storage in values.hostedStorages { storage.bindToHost() }
        for step in steps {
            var end = workspace
            for storage in step.scratch {
                storage.bind(to: end)
                end += UInt(Self.aligned(4 * storage.words))
            }
        }
        // What a run reads before it is written is defined.
        try gpu.driver.check(
            gpu.driver.fill(Driver.Address(memory.address), 0, bytes, gpu.stream),
            "clearing memory")
    }

    /// Bytes of a step's own values.
    static func scratchBytes(of step: StepCalls) -> Int {
        bytes(of: step.scratch)
    }

    private static func bytes(of storages: [Storage]) -> Int {
        storages.reduce(0) { $0 + aligned(4 * $1.words) }
    }

    private static func aligned(_ bytes: Int) -> Int {
        (bytes + alignment - 1) / alignment * alignment
    }

    private static func text(_ bytes: Int) -> String { "\((bytes + (1 << 20) - 1) >> 20) MiB" }
}
