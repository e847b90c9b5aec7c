import RetintCompiler
import RetintGraph
import RetintTensors

/// Runs kernels of the CPU on all threads of a pool.
final class CPUExecutor: Executor {
    private let pool: ThreadPool
    private let memory: ProgramMemory
    private let kernels: [Kernel]
    /// The phases of a run's kernels, in order.
    private let calls: [KernelCall]
    private let preparation: Preparation
    private let fallibleKernels: [any FallibleKernel]
    private var isPrepared = false

    /// Allocates the memory of a program.
    ///
    /// - Parameter releases: whether variables that only the preparation reads give up their memory
    ///   after it.
    /// - Throws: `GraphError` if the system does not have enough memory, or the budget allows less.
    init(_ compiled: CompiledGraph, on pool: ThreadPool, releases: Bool) throws(GraphError) {
        self.pool = pool
        preparation = Preparation(compiled, releases: releases)
        memory = try ProgramMemory(compiled, threads: pool.threads)
        kernels = compiled.steps.filter { !$0.isHoisted }.map(\.cpuKernel)
        calls = kernels.flatMap { [memory] kernel in
            KernelCall.phases(of: kernel, threads: pool.threads, memory.workspace)
        }
        fallibleKernels = compiled.steps.compactMap { $0.kernel as? any FallibleKernel }
    }

    var threads: Int { pool.threads }
    var elementBytes: Int { MemoryLayout<Float>.size }
    var arenaBytes: Int { memory.bytes }
    var released: Set<String> { preparation.released }
    var failure: GraphError? { fallibleKernels.lazy.compactMap(\.failure).first }

    func exclusively<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
        try pool.withExclusiveUse(body)
    }

    // MARK: Values

    func load(_ sources: [String: any TensorSource]) throws {
        isPrepared = false
        try pool.withExclusiveUse {
            try read(preparation.kept, from: sources)
            guard !preparation.released.isEmpty else { return }
            // These share their memory with each other, and with the values of a run.
            try prepare { try read($0, from: sources) }
        }
    }

    private func read(
        _ variables: [Preparation.VariableBuffer], from sources: [String: any TensorSource]
    ) throws {
        for (name, buffer) in variables {
            guard let source = sources[name] else { continue }
            let kernel = ReadingKernel(name, try source.opened(), into: buffer)
            execute(kernel)
            if let failure = kernel.failure { throw failure }
        }
    }

    func write(_ scalars: [Float], to buffer: Buffer) { buffer.load(scalars) }
    func read(_ buffer: Buffer) -> [Float] { buffer.scalars() }

    func copy(_ buffer: Buffer, to scalars: inout [Float]) {
        scalars.removeAll(keepingCapacity: true)
        scalars.append(
            contentsOf: UnsafeBufferPointer(start: buffer.pointer, count: buffer.count))
    }

    func largestMagnitude(of buffer: Buffer) -> Float {
        let scalars = UnsafeBufferPointer(start: buffer.pointer, count: buffer.count)
        return Float(bitPattern: largestMagnitudeBits(scalars))
    }

    // MARK: Running

    func prepare() {
        guard !isPrepared else { return }
        prepare { _ in }
    }

    /// - Parameter read: reads variables that the next step is the first to need.
    private func prepare<Failure>(
        _ read: ([Preparation.VariableBuffer]) throws(Failure) -> Void
    ) throws(Failure) {
        for (kernel, variables) in preparation.steps {
            try read(variables)
            execute(kernel)
        }
        isPrepared = true
    }

    func run(step index: Int) { execute(kernels[index]) }

    /// The phases of one step of a run.
    func phases(ofStep index: Int) -> [KernelCall] {
        KernelCall.phases(of: kernels[index], threads: threads, memory.workspace)
    }

    func run(isCancelled: () -> Bool) -> Bool {
        for call in calls {
            if isCancelled() { return false }
            pool.run(call)
        }
        return true
    }

    private func execute(_ kernel: Kernel) {
        for call in KernelCall.phases(of: kernel, threads: threads, memory.workspace) {
            pool.run(call)
        }
    }
}

/// Without their signs, bit patterns are in the order of the magnitudes, infinity after all finite
/// values and NaN after infinity.
private func largestMagnitudeBits(_ scalars: UnsafeBufferPointer<Float>) -> UInt32 {
    typealias Lanes = SIMD16<Int32>
    let bytes = UnsafeRawBufferPointer(scalars)
    let mask = Lanes(repeating: .max)
    var largest = Lanes()
    let whole = scalars.count - scalars.count % Lanes.scalarCount
    for start in stride(from: 0, to: whole, by: Lanes.scalarCount) {
        let lanes = bytes.loadUnaligned(fromByteOffset: 4 * start, as: Lanes.self) & mask
        largest.replace(with: lanes, where: lanes .> largest)
    }
    let rest = scalars[whole...].reduce(0) { max($0, $1.magnitude.bitPattern) }
    return max(UInt32(largest.max()), rest)
}
