import RetintCUDA
import RetintCompiler
import RetintFloat64
import RetintGraph

/// What a device brings to the compilation of a program.
struct DeviceBackend {
    let backend: any Backend
    let graphPasses: [any GraphPass]
    let stepPasses: [any StepPass]
    /// Gives the compiled steps their memory.
    let executor: (CompiledGraph) throws(GraphError) -> any Executor
}

extension Execution.Device {
    /// - Parameters:
    ///   - outputs: of the program.
    ///   - learns: whether a run changes variables.
    /// - Throws: ``GraphError`` if the options' tuner cannot compile the program.
    func backend(
        for outputs: [(name: String, value: Tensor)], _ options: CompileOptions, learns: Bool
    ) throws(GraphError) -> DeviceBackend {
        switch self {
        case .cpu where options.arithmetic == .tf32:
            throw GraphError(
                device: rawValue,
                reason: "tf32 is an arithmetic of GPUs; compute in float32 or bfloat16 here")
        case .cpu:
            let pool = ThreadPool.shared(threads: options.threadCount)
            let passes = PassPipeline(
                options,
                choices: try options.tuner?.choices(for: outputs, options) ?? options.choices,
                threads: pool.threads, learns: learns)
            return DeviceBackend(
                backend: CPUBackend(), graphPasses: passes.graphPasses,
                stepPasses: passes.stepPasses
            ) { compiled throws(GraphError) in
                try CPUExecutor(compiled, on: pool, releases: options.releasesWeights)
            }
        case .reference:
            return DeviceBackend(
                backend: ReferenceBackend(),
                graphPasses: options.roundsToHalf ? [HalfRounding()] : [], stepPasses: []
            ) { compiled throws(GraphError) in try ReferenceExecutor(compiled) }
        case .cuda(let index):
            let gpu: GPU
            do throws(CUDAError) { gpu = try GPU.ofProcess(index) } catch {
                throw GraphError(device: rawValue, reason: error.description)
            }
            return DeviceBackend(
                backend: CUDABackend(),
                graphPasses: CUDAPasses.passes(
                    roundsToHalf: options.roundsToHalf, recomputes: options.recomputes),
                stepPasses: CUDAPasses.stepPasses
            ) { compiled throws(GraphError) in
                try CUDAExecutor(
                    compiled, on: gpu, options.arithmetic.ofProducts, options.engineChoices,
                    options.communicator)
            }
        }
    }
}

extension CompileOptions {
    /// Those of a GPU, which are measured when a program is made.
    fileprivate var engineChoices: EngineChoices {
        guard let tuner else { return EngineChoices(known: { [choices] in choices.names[$0] }) }
        return EngineChoices(known: { tuner.choices.names[$0] }, measured: tuner.add)
    }
}

extension Arithmetic {
    fileprivate var ofProducts: ProductArithmetic {
        switch self {
        case .float32: ProductArithmetic(.float32)
        case .float16: ProductArithmetic(.float16)
        case .bfloat16: ProductArithmetic(.bfloat16)
        case .tf32: ProductArithmetic(.float32, allowsTF32: true)
        }
    }
}
