import Glibc
import RetintDistributed
import RetintLocks

/// A GPU: its context, the stream on which everything runs in order, and what computes on it.
package final class GPU: @unchecked Sendable {
    package let index: Int
    package let name: String
    /// 90 for an H100.
    package let computeCapability: Int
    let multiprocessors: Int
    let driver: Driver
    let cuDNN: CuDNN
    let cuDNNHandle: OpaquePointer
    let cuBLASLt: CuBLASLt
    private let nvrtc: NVRTC
    private let context: Driver.Handle
    let stream: Driver.Handle
    private let exclusive = RecursiveLock()
    /// What copies to the GPU are made from, while nothing else uses it.
    private var staging: StagingArea?
    /// What has been compiled and planned in this process.
    private let functions = Mutex<[String: Function]>([:])
    private let convolutions = Mutex<[PlannedConvolution: ConvolutionPlan]>([:])
    private let products = Mutex<[CuBLASLt.Product: CuBLASLt.Plan]>([:])

    private struct Function: @unchecked Sendable {
        let handle: Driver.Handle
    }

    private struct PlannedConvolution: Hashable {
        let call: ConvolutionCall
        /// The engine that was chosen; nil for cuDNN's choice.
        let engine: Int?
    }

    private static let opened = Mutex<[Int: GPU]>([:])

    /// The GPU with an index, which is opened once for the process.
    ///
    /// - Throws: ``CUDAError`` if there is none, a library is missing or too old, or it does not
    ///   start.
    package static func shared(_ index: Int) throws(CUDAError) -> GPU {
        try opened.withLock { opened throws(CUDAError) in
            if let known = opened[index] { return known }
            let gpu = try GPU(index)
            opened[index] = gpu
            return gpu
        }
    }

    /// The GPU with an index. In a job of several ranks, index 0 is that of the rank: each on a
    /// machine takes another one, in turn.
    package static func ofProcess(_ index: Int) throws(CUDAError) -> GPU {
        guard index == 0, let rank = Communicator.rankOnMachine, rank > 0 else {
            return try shared(index)
        }
        return try shared(rank % max(Driver().count(), 1))
    }

    private init(_ index: Int) throws(CUDAError) {
        let driver = try Driver()
        (self.index, self.driver) = (index, driver)
        let count = try driver.count()
        guard (0..<count).contains(index) else {
            throw CUDAError(
                count == 0
                    ? "CUDA: this machine has no GPU that the driver can use; compute on the CPU"
                    : "CUDA: there is no GPU \(index); this machine has \(count), counted from 0")
        }
        let device = try Driver.Device(Int32(index), driver)
        (name, computeCapability) = (device.name, device.computeCapability)
        multiprocessors = device.multiprocessors
        guard computeCapability >= 75 else {
            throw CUDAError(
                "CUDA: \(name) has compute capability \(computeCapability / 10)."
                    + "\(computeCapability % 10), and retint needs 7.5 or higher; compute on the "
                    + "CPU")
        }
        var context: Driver.Handle?
        try driver.check(driver.retainContext(&context, device.handle), "starting \(name)")
        try driver.check(driver.setContext(context), "starting \(name)")
        var stream: Driver.Handle?
        let nonBlocking: UInt32 = 1
        try driver.check(driver.createStream(&stream, nonBlocking), "starting \(name)")
        guard let context, let stream else { throw CUDAError("CUDA: \(name) does not start") }
        (self.context, self.stream) = (context, stream)
        // cuDNN uses the other two, and finds those that are loaded.
        nvrtc = try NVRTC(CUDALibrary(.nvrtc))
        cuBLASLt = try CuBLASLt()
        cuDNN = try CuDNN()
        cuDNNHandle = try cuDNN.handle(on: stream)
    }

    /// Calls `body` while no other thread uses the GPU.
    func exclusively<Value, Failure>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        exclusive.lock()
        defer { exclusive.unlock() }
        // The driver's functions work on the GPU of the calling thread.
        _ = driver.setContext(context)
        return try body()
    }

    // MARK: Memory

    /// Bytes that are free, and all.
    package func memory() throws(CUDAError) -> (free: Int, total: Int) {
        try exclusively { () throws(CUDAError) in
            var (free, total) = (0, 0)
            try driver.check(driver.memoryInfo(&free, &total), "asking for memory")
            return (free, total)
        }
    }

    func synchronize() throws(CUDAError) {
        try driver.check(driver.synchronize(stream), "computing")
        staging?.used = 0
    }

    /// The largest copy that is made from memory kept for copies: 64 MiB.
    static let mostStagedBytes = 1 << 26

    /// Memory that the caller fills and copies from. It waits for the stream if that still has to
    /// read what is there.
    ///
    /// - Precondition: the caller has the GPU exclusively until the copy is started.
    func stage(bytes: Int) throws(CUDAError) -> UnsafeMutableRawPointer {
        let alignment = StagingArea.alignment
        let padded = (bytes + alignment - 1) / alignment * alignment
        if let area = staging, area.used + padded > area.memory.bytes { try synchronize() }
        if staging.map({ padded > $0.memory.bytes }) ?? true {
            let size = max(padded, StagingArea.leastBytes)
            staging = StagingArea(memory: try PinnedMemory(bytes: size, on: self))
        }
        guard let area = staging else { throw CUDAError("CUDA: there is no memory for copies") }
        staging?.used = area.used + padded
        return area.memory.pointer.advanced(by: area.used)
    }

    private struct StagingArea {
        let memory: PinnedMemory
        /// Bytes from which copies may still be made.
        var used = 0

        static let alignment = 256
        static let leastBytes = 1 << 24
    }

    // MARK: Kernels

    /// Compiles the kernels that have not been compiled yet.
    ///
    /// - Returns: the functions by name.
    func functions(of sources: [KernelSource]) throws(CUDAError) -> [String: Driver.Handle] {
        let names = Set(sources.map(\.name))
        return try functions.withLock { known throws(CUDAError) in
            var missing: [KernelSource] = []
            for source in sources
            where known[source.name] == nil && !missing.contains(source) { missing.append(source) }
            let parts = missing.inParts(of: Self.kernelsOfModule)
            let binaries = try CompiledKernels(nvrtc, computeCapability).binaries(of: parts)
            for (part, binary) in zip(parts, binaries) {
                var module: Driver.Handle?
                try driver.check(driver.loadModule(&module, binary), "loading kernels")
                guard let module else { throw CUDAError("CUDA: there is no module") }
                for source in part {
                    var function: Driver.Handle?
                    try driver.check(
                        driver.function(&function, module, source.name), "finding a kernel")
                    known[source.name] = function.map(Function.init)
                }
            }
            return known.filter { names.contains($0.key) }.mapValues(\.handle)
        }
    }

    /// Kernels that are compiled together.
    private static let kernelsOfModule = 32

    // MARK: Products

    /// The most workspace of a plan, in bytes.
    static let workspaceLimit = 1 << 28

    func plan(
        _ call: ConvolutionCall, _ choices: EngineChoices = EngineChoices()
    ) throws(CUDAError) -> ConvolutionPlan {
        let engine = try choices.engine(for: call, on: self)
        return try convolutions.withLock { known throws(CUDAError) in
            let planned = PlannedConvolution(call: call, engine: engine)
            if let plan = known[planned] { return plan }
            let plan = try ConvolutionPlan.plan(
                call, engine: engine, for: .handle(cuDNNHandle),
                workspaceLimit: Self.workspaceLimit, cuDNN)
            known[planned] = plan
            return plan
        }
    }

    func plan(_ product: CuBLASLt.Product) throws(CUDAError) -> CuBLASLt.Plan {
        try products.withLock { known throws(CUDAError) in
            if let plan = known[product] { return plan }
            let plan = try cuBLASLt.plan(product, workspaceLimit: Self.workspaceLimit)
            known[product] = plan
            return plan
        }
    }
}

extension Array {
    fileprivate func inParts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map {
            Array(self[$0..<Swift.min($0 + count, self.count)])
        }
    }
}

/// A lock that its owner may lock again: memory can be freed while a program is made.
private final class RecursiveLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
}
