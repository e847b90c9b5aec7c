import RetintCompiler

/// A kernel with its arguments, ready to be started. Those are kept in memory that does not move,
/// because the driver gets their addresses.
final class KernelLaunch {
    let name: String
    private let function: Driver.Handle
    private let blocks, threads: UInt32
    private let values: UnsafeMutablePointer<UInt>
    private let arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// Memory that lives as long.
    private let memory: DeviceMemory?

    init(
        _ source: KernelSource, _ parameters: [UInt], _ grid: DeviceKernel.Grid,
        _ function: Driver.Handle, _ gpu: GPU, keeping memory: DeviceMemory? = nil
    ) {
        (name, self.function, self.memory) = (source.name, function, memory)
        threads = UInt32(grid.threads)
        switch grid {
        case .elements(let count):
            let most = gpu.multiprocessors * 32
            blocks = UInt32(max(min((count + 255) / 256, most), 1))
        case .blocks(let count, _):
            blocks = UInt32(max(min(count, 1 << 20), 1))
        }
        let count = parameters.count
        values = .allocate(capacity: max(count, 1))
        arguments = .allocate(capacity: max(count, 1))
        for (index, address) in parameters.enumerated() {
            (values + index).initialize(to: address)
            (arguments + index).initialize(to: UnsafeMutableRawPointer(values + index))
        }
    }

    deinit {
        values.deallocate()
        arguments.deallocate()
    }

    func start(_ gpu: GPU) -> Driver.Status {
        gpu.driver.launch(
            function, blocks, 1, 1, threads, 1, 1, 0, gpu.stream, arguments, nil)
    }
}

extension Buffer {
    /// The address of its first element.
    var address: UInt { storage.address + UInt(offset * storage.format.bytes) }
    /// Bytes of its elements.
    var bytes: Int { count * storage.format.bytes }
}

/// A graph of calls that the driver starts as one.
final class CapturedCalls {
    private let executable: Driver.Handle
    private let graph: Driver.Handle
    private let gpu: GPU

    /// Records what `body` starts on the stream, without running it.
    ///
    /// - Throws: ``CUDAError`` if something cannot be recorded.
    init(on gpu: GPU, _ body: () throws(CUDAError) -> Void) throws(CUDAError) {
        let driver = gpu.driver
        let relaxed: Int32 = 2
        try driver.check(driver.beginCapture(gpu.stream, relaxed), "recording a step")
        var failure: CUDAError?
        do throws(CUDAError) { try body() } catch { failure = error }
        var graph: Driver.Handle?
        let status = driver.endCapture(gpu.stream, &graph)
        var executable: Driver.Handle?
        do throws(CUDAError) {
            if let failure { throw failure }
            try driver.check(status, "recording a step")
            guard let graph else { throw CUDAError("CUDA: there is no graph") }
            try driver.check(driver.instantiate(&executable, graph, 0), "preparing a graph")
        } catch {
            if let graph { _ = driver.destroyGraph(graph) }
            throw error
        }
        guard let graph, let executable else { throw CUDAError("CUDA: there is no graph") }
        (self.executable, self.graph, self.gpu) = (executable, graph, gpu)
    }

    deinit {
        gpu.exclusively {
            _ = gpu.driver.destroyExecutable(executable)
            _ = gpu.driver.destroyGraph(graph)
        }
    }

    func start() throws(CUDAError) {
        try gpu.driver.check(gpu.driver.launchGraph(executable, gpu.stream), "starting a graph")
    }
}

/// A point in the order of the stream, whose time the GPU notes (an event of the driver).
final class StreamMark {
    private let event: Driver.Handle
    private let gpu: GPU

    init(on gpu: GPU) throws(CUDAError) {
        var event: Driver.Handle?
        try gpu.driver.check(gpu.driver.createEvent(&event, 0), "creating a mark")
        guard let event else { throw CUDAError("CUDA: there is no mark") }
        (self.event, self.gpu) = (event, gpu)
    }

    deinit { gpu.exclusively { _ = gpu.driver.destroyEvent(event) } }

    func set() { _ = gpu.driver.recordEvent(event, gpu.stream) }

    /// Once the stream has passed both.
    func seconds(since other: StreamMark) -> Double {
        var milliseconds: Float = 0
        _ = gpu.driver.elapsed(&milliseconds, other.event, event)
        return Double(milliseconds) / 1000
    }
}
