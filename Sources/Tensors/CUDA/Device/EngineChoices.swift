import RetintTensors

/// Which of cuDNN's engines computes a convolution, where that has been measured.
package struct EngineChoices: Sendable {
    /// Seconds by engine.
    package typealias Times = [(algorithm: String, seconds: Double)]

    private let known: @Sendable (_ task: String) -> String?
    private let measured: (@Sendable (_ task: String, _ times: Times) -> Void)?

    /// - Parameters:
    ///   - known: the engine that was chosen for a GPU, a version of cuDNN and a convolution.
    ///   - measured: is told the times of a convolution that is not known; nil if none is measured.
    package init(
        known: @escaping @Sendable (_ task: String) -> String? = { _ in nil },
        measured: (@Sendable (_ task: String, _ times: Times) -> Void)? = nil
    ) {
        (self.known, self.measured) = (known, measured)
    }

    /// More are not worth their time: cuDNN's order is by its estimate.
    private static let mostEngines = 8
    /// Engines are measured alternately, so that a slow moment of the GPU affects all.
    private static let rounds = 5

    /// The place of an engine in cuDNN's order.
    ///
    /// - Returns: nil for the engine that cuDNN expects to be the fastest.
    /// - Throws: ``CUDAError`` if cuDNN has no engine, or the GPU too little memory.
    func engine(for call: ConvolutionCall, on gpu: GPU) throws(CUDAError) -> Int? {
        let task = "\(Self.taskPrefix)\(gpu.name), cuDNN \(gpu.cuDNN.versionText): \(call.key)"
        let name = known(task).flatMap { $0.hasPrefix(Self.prefix) ? $0 : nil }
        if let engine = name.flatMap({ Int($0.dropFirst(Self.prefix.count)) }) { return engine }
        guard let measured else { return nil }
        let engines = Engines(
            call: call, target: .handle(gpu.cuDNNHandle), workspaceLimit: GPU.workspaceLimit,
            library: gpu.cuDNN)
        let plans = try engines.plans(atMost: Self.mostEngines)
        let seconds = try Self.seconds(of: plans, call, on: gpu)
        let working = zip(plans, seconds).filter { $1.isFinite }
        guard let fastest = working.min(by: { $0.1 < $1.1 }) else { return nil }
        measured(task, working.map { (Self.prefix + "\($0.engine)", $1) })
        return fastest.0.engine
    }

    private static let (taskPrefix, prefix) = ("cuda: ", "engine ")

    /// Whether a description is of a convolution on a GPU.
    package static func names(task: String) -> Bool { task.hasPrefix(taskPrefix) }

    /// The shortest time of each plan; infinite for one that the GPU does not run.
    private static func seconds(
        of plans: [ConvolutionPlan], _ call: ConvolutionCall, on gpu: GPU
    ) throws(CUDAError) -> [Double] {
        func memory(_ bytes: Int) throws(CUDAError) -> DeviceMemory {
            let memory = try DeviceMemory(bytes: bytes, on: gpu)
            // Zeros would need less power, and let a GPU run faster than it will.
            try gpu.driver.check(
                gpu.driver.fill(Driver.Address(memory.address), 0x3d, bytes, gpu.stream),
                "filling memory")
            return memory
        }
        let tensors = [call.x, call.w, call.y]
        var memories: [DeviceMemory] = []
        for shape in tensors { memories.append(try memory(shape.count * call.format.bytes)) }
        let workspace = try memory(plans.map(\.workspaceBytes).max() ?? 0)
        let marks = (try StreamMark(on: gpu), try StreamMark(on: gpu))
        var least = plans.map { _ in 0.0 }
        for round in 0...rounds {
            for (index, plan) in plans.enumerated() where round == 0 || least[index].isFinite {
                let pack = try plan.pack(
                    x: memories[0].address, w: memories[1].address, y: memories[2].address,
                    workspace: workspace.address)
                marks.0.set()
                let status = gpu.cuDNN.run(plan, pack, gpu.cuDNNHandle)
                marks.1.set()
                try gpu.synchronize()
                let seconds = marks.1.seconds(since: marks.0)
                if status != 0 || seconds <= 0 {
                    least[index] = .infinity
                } else {
                    // The first run also loads the engine's code.
                    least[index] = round < 2 ? seconds : min(least[index], seconds)
                }
            }
        }
        return least
    }
}
