import RetintCompiler
import RetintDistributed
import RetintGraph
import RetintTensors

/// How products are computed; their sums are in float32.
package struct ProductArithmetic: Sendable {
    /// Of the operands.
    let format: ElementFormat
    /// Whether float32 operands may be rounded to TF32.
    let allowsTF32: Bool

    package init(_ format: ElementFormat, allowsTF32: Bool = false) {
        (self.format, self.allowsTF32) = (format, allowsTF32)
    }
}

/// Runs the steps of a program on a GPU: from the second run on, those between code of this machine
/// as one graph of the driver.
package final class CUDAExecutor: Executor {
    private let gpu: GPU
    private let compiled: CompiledGraph
    private let memory: DeviceProgramMemory
    private let staging: PinnedMemory
    /// Where inputs are copied from, in `staging`.
    private let stagingOffsets: [ObjectIdentifier: Int]
    private let stepCalls: [[PreparedCall]]
    private let preparation: [[PreparedCall]]
    private let indexFaults: IndexFaults
    private var parts: [RunPart]
    private var isPrepared = false
    private var hasRun = false
    private var preparationFailure: GraphError?
    private var runFailure: GraphError?
    /// Why a value that the next run is given was not copied.
    private var inputFailure: GraphError?

    /// Plans products, compiles kernels and allocates memory.
    ///
    /// - Parameters:
    ///   - arithmetic: of products. Images between layers have the format of operands.
    ///   - choices: of the engines that compute convolutions.
    ///   - ranks: with whom the program exchanges messages.
    /// - Throws: `GraphError` if a library cannot compute a step, or the GPU has too little memory.
    package init(
        _ compiled: CompiledGraph, on gpu: GPU, _ arithmetic: ProductArithmetic,
        _ choices: EngineChoices, _ ranks: Communicator
    ) throws(GraphError) {
        (self.gpu, self.compiled) = (gpu, compiled)
        do throws(CUDAError) {
            FormatChoice.apply(arithmetic.format, to: compiled)
            let made = try gpu.exclusively { () throws(CUDAError) in
                try Self.prepare(compiled, gpu, arithmetic, choices, ranks)
            }
            (memory, staging, stagingOffsets) = (made.memory, made.staging, made.offsets)
            (stepCalls, preparation) = (made.steps, made.preparation)
            indexFaults = made.faults
            parts = RunPart.parts(of: stepCalls)
            try gpu.exclusively { () throws(CUDAError) in
                for (buffer, data) in compiled.values.constants {
                    try upload(data.scalars, to: buffer)
                }
            }
        } catch {
            throw GraphError(device: "cuda", reason: error.description)
        }
    }

    private static func prepare(
        _ compiled: CompiledGraph, _ gpu: GPU, _ arithmetic: ProductArithmetic,
        _ choices: EngineChoices, _ ranks: Communicator
    ) throws(CUDAError) -> (
        memory: DeviceProgramMemory, staging: PinnedMemory, offsets: [ObjectIdentifier: Int],
        steps: [[PreparedCall]], preparation: [[PreparedCall]], faults: IndexFaults
    ) {
        let (fixed, faults) = (FixedOperands(compiled.values), IndexFaults(compiled.values))
        let lowering = StepLowering(gpu, arithmetic, choices, fixed, RankCalls(ranks), faults)
        var steps: [StepCalls] = []
        for step in compiled.steps { steps.append(try lowering.calls(of: step)) }
        let kept = fixed.storages + (faults.storage.map { [$0] } ?? [])
        let memory = try DeviceProgramMemory(compiled, steps, kept, on: gpu)
        let sources = steps.flatMap(\.calls).compactMap { call -> KernelSource? in
            switch call {
            case .kernel(let kernel): kernel.source
            case .segments(let kernel): kernel.source
            case .convolution, .matrices, .copy, .host: nil
            }
        }
        let functions = try gpu.functions(of: sources + fixed.kernels.map(\.source))
        var prepared: [[PreparedCall]] = []
        for step in steps {
            var calls: [PreparedCall] = []
            for call in step.calls {
                calls.append(try PreparedCall(call, step, functions, memory, gpu))
            }
            prepared.append(calls)
        }
        let values = compiled.values
        var (offsets, bytes) = ([ObjectIdentifier: Int](), 0)
        for (_, buffer) in values.inputs where offsets[ObjectIdentifier(buffer.storage)] == nil {
            offsets[ObjectIdentifier(buffer.storage)] = bytes
            bytes += (buffer.storage.count * 4 + 255) / 256 * 256
        }
        let pairs = zip(compiled.steps, prepared)
        var copies: [PreparedCall] = []
        for kernel in fixed.kernels {
            copies.append(
                try PreparedCall(.kernel(kernel), StepCalls(), functions, memory, gpu))
        }
        return (
            memory, try PinnedMemory(bytes: bytes, on: gpu), offsets,
            pairs.filter { !$0.0.isHoisted }.map(\.1),
            pairs.filter { $0.0.isHoisted }.map(\.1) + [copies], faults
        )
    }

    package var threads: Int { 1 }
    package var elementBytes: Int { MemoryLayout<Float>.size }
    package var arenaBytes: Int { memory.runBytes }
    package var released: Set<String> { [] }
    package var failure: GraphError? { preparationFailure ?? runFailure }

    package func exclusively<Failure>(
        _ body: () throws(Failure) -> Void
    ) throws(Failure) { try gpu.exclusively(body) }

    // MARK: Values

    package func load(_ sources: [String: any TensorSource]) throws {
        isPrepared = false
        for (name, buffer) in compiled.values.variables {
            guard let source = sources[name] else { continue }
            let scalars = try source.tensorData().scalars
            try gpu.exclusively { try upload(scalars, to: buffer) }
        }
    }

    package func write(_ scalars: [Float], to buffer: Buffer) {
        do throws(CUDAError) {
            try gpu.exclusively { () throws(CUDAError) in try upload(scalars, to: buffer) }
        } catch {
            inputFailure = inputFailure ?? GraphError(device: "cuda", reason: error.description)
        }
    }

    /// Copies row-major scalars to a value in float32.
    private func upload(_ scalars: [Float], to buffer: Buffer) throws(CUDAError) {
        guard let offset = stagingOffsets[ObjectIdentifier(buffer.storage)] else {
            return try gpu.upload(scalars, to: buffer)
        }
        let target = staging.pointer.advanced(by: offset + 4 * buffer.offset)
            .assumingMemoryBound(to: Float.self)
        ChannelsLast(buffer.shape).pack(scalars, to: target)
        try gpu.copy(target, to: buffer)
    }

    package func read(_ buffer: Buffer) -> [Float] {
        var scalars: [Float] = []
        copy(buffer, to: &scalars)
        return ChannelsLast(buffer.shape).unpacked(scalars)
    }

    package func copy(_ buffer: Buffer, to scalars: inout [Float]) {
        if scalars.count != buffer.count {
            scalars = [Float](repeating: 0, count: buffer.count)
        }
        attempt { () throws(CUDAError) in
            try gpu.exclusively { () throws(CUDAError) in try gpu.download(buffer, to: &scalars) }
        }
    }

    package func largestMagnitude(of buffer: Buffer) -> Float {
        var scalars: [Float] = []
        copy(buffer, to: &scalars)
        return scalars.reduce(0) { $0.isNaN || $1.isNaN ? .nan : max($0, $1.magnitude) }
    }

    /// Keeps the error of a call to the driver, which those who read a run's results get.
    private func attempt(_ body: () throws(CUDAError) -> Void) {
        do throws(CUDAError) { try body() } catch {
            runFailure = GraphError(device: "cuda", reason: error.description)
        }
    }

    // MARK: Running

    package func prepare() {
        guard !isPrepared else { return }
        do throws(GraphError) {
            for step in preparation { try start(step) }
            preparationFailure = try takeIndexFault()
        } catch {
            preparationFailure = error
        }
        isPrepared = true
    }

    package func run(step index: Int) {
        if index == 0 { beginRun() }
        run { () throws(GraphError) in try start(stepCalls[index]) }
        finishRun()
    }

    /// A run has the error of copying what it is given, and not that of an earlier run.
    private func beginRun() {
        (runFailure, inputFailure) = (inputFailure, nil)
    }

    /// Waits for the GPU, and keeps the error of an index that is out of range.
    private func finishRun() {
        attempt { () throws(CUDAError) in try gpu.synchronize() }
        run { () throws(GraphError) in
            if let fault = try takeIndexFault() { throw fault }
        }
    }

    private func takeIndexFault() throws(GraphError) -> GraphError? {
        do throws(CUDAError) { return try indexFaults.take(from: gpu) } catch {
            throw GraphError(device: "cuda", reason: error.description)
        }
    }

    /// Between marks of the GPU on its stream: the time of this machine would be that of starting.
    package func stepSeconds() -> [Double]? {
        guard let marks = try? (0...stepCalls.count).map({ _ in try StreamMark(on: gpu) }),
            let first = marks.first
        else { return nil }
        run { () throws(GraphError) in
            first.set()
            for (step, mark) in zip(stepCalls, marks.dropFirst()) {
                try start(step)
                mark.set()
            }
        }
        finishRun()
        return zip(marks, marks.dropFirst()).map { $1.seconds(since: $0) }
    }

    package func run(isCancelled: () -> Bool) -> Bool {
        beginRun()
        for index in parts.indices {
            if isCancelled() {
                finishRun()
                return false
            }
            run { () throws(GraphError) in try startPart(index) }
        }
        finishRun()
        hasRun = true
        return true
    }

    /// Keeps the first error of a run.
    private func run(_ body: () throws(GraphError) -> Void) {
        do throws(GraphError) { try body() } catch { runFailure = runFailure ?? error }
    }

    private func startPart(_ index: Int) throws(GraphError) {
        do throws(CUDAError) {
            // The first run loads what the libraries need, which cannot be recorded.
            if hasRun, parts[index].isRecordable, parts[index].captured == nil {
                record(index)
            }
            if let captured = parts[index].captured { return try captured.start() }
        } catch {
            throw GraphError(device: "cuda", reason: error.description)
        }
        try start(parts[index].calls)
    }

    /// Records a part. One that has something that cannot be recorded starts its calls one by one.
    private func record(_ index: Int) {
        let calls = parts[index].calls
        parts[index].captured = try? CapturedCalls(on: gpu) { () throws(CUDAError) in
            for call in calls { try call.startOnDevice(gpu) }
        }
        parts[index].isRecordable = parts[index].captured != nil
    }

    private func start(_ calls: [PreparedCall]) throws(GraphError) {
        for call in calls {
            if case .host(let call) = call {
                try call.run(on: gpu)
            } else {
                do throws(CUDAError) { try call.startOnDevice(gpu) } catch {
                    throw GraphError(device: "cuda", reason: error.description)
                }
            }
        }
    }
}

/// Steps that run one after another on a GPU, or one that needs this machine.
private struct RunPart {
    var calls: [PreparedCall]
    var isRecordable: Bool
    var captured: CapturedCalls?

    static func parts(of steps: [[PreparedCall]]) -> [RunPart] {
        var parts: [RunPart] = []
        for call in steps.joined() {
            if let last = parts.last, last.isRecordable, !call.isOfHost {
                parts[parts.count - 1].calls.append(call)
            } else {
                parts.append(RunPart(calls: [call], isRecordable: !call.isOfHost))
            }
        }
        return parts
    }
}

/// A call with the addresses of its values.
enum PreparedCall {
    case kernel(KernelLaunch)
    case convolution(ConvolutionPlan, CuDNNDescriptor)
    case matrices(CuBLASLt.Plan, x: UInt, y: UInt, result: UInt, workspace: UInt)
    case copy(from: UInt, to: UInt, bytes: Int)
    case host(any HostCall)

    init(
        _ call: DeviceCall, _ step: StepCalls, _ functions: [String: Driver.Handle],
        _ memory: DeviceProgramMemory, _ gpu: GPU
    ) throws(CUDAError) {
        // The libraries' own memory begins after that of the step.
        let workspace = memory.workspace + UInt(DeviceProgramMemory.scratchBytes(of: step))
        func function(_ source: KernelSource) throws(CUDAError) -> Driver.Handle {
            guard let function = functions[source.name] else {
                throw CUDAError("CUDA: kernel \(source.name) was not compiled")
            }
            return function
        }
        switch call {
        case .kernel(let kernel):
            self = .kernel(
                KernelLaunch(
                    kernel.source, kernel.parameters.map(\.address), kernel.grid,
                    try function(kernel.source), gpu))
        case .segments(let kernel):
            let table = try DeviceMemory(kernel.table, on: gpu)
            self = .kernel(
                KernelLaunch(
                    kernel.source, [table.address], kernel.grid, try function(kernel.source), gpu,
                    keeping: table))
        case .convolution(let plan, let x, let w, let y):
            let pack = try plan.pack(
                x: x.address, w: w.address, y: y.address, workspace: workspace)
            self = .convolution(plan, pack)
        case .matrices(let plan, let x, let y, let result):
            self = .matrices(
                plan, x: x.address, y: y.address, result: result.address, workspace: workspace)
        case .copy(let source, let target):
            self = .copy(from: source.address, to: target.address, bytes: source.bytes)
        case .host(let call): self = .host(call)
        }
    }

    var isOfHost: Bool { if case .host = self { true } else { false } }

    /// - Throws: ``CUDAError`` if it cannot be started.
    func startOnDevice(_ gpu: GPU) throws(CUDAError) {
        switch self {
        case .kernel(let launch):
            try gpu.driver.check(launch.start(gpu), "starting \(launch.name)")
        case .convolution(let plan, let pack):
            try gpu.cuDNN.check(
                gpu.cuDNN.run(plan, pack, gpu.cuDNNHandle), "starting a convolution")
        case .matrices(let plan, let x, let y, let result, let workspace):
            try gpu.cuBLASLt.check(
                gpu.cuBLASLt.run(
                    plan, x: x, y: y, result: result, workspace: workspace, gpu.stream))
        case .copy(let source, let target, let bytes):
            try gpu.driver.check(
                gpu.driver.copyOnDevice(
                    Driver.Address(target), Driver.Address(source), bytes, gpu.stream),
                "copying a value")
        case .host: break
        }
    }
}
