import RetintCompiler
import RetintGraph
import RetintTensors

/// A convolution in one of its three directions, by its shapes.
struct ConvolutionCall: Hashable {
    enum Direction: String {
        /// From x and w to y.
        case forward
        /// From y and w to x.
        case dataGradient = "data gradient"
        /// From x and y to w.
        case weightGradient = "weight gradient"
    }

    let direction: Direction
    /// The image that windows cover, [N, C, H, W]; the weights, [K, C / groups, R, S]; and what the
    /// forward direction computes.
    let x, w, y: Shape
    let window: Window
    let groups: Int
    /// The format of operands and result; sums are in float32.
    var format = ElementFormat.float32

    /// Whether float32 operands may be rounded to TF32.
    var allowsTF32 = false

    /// What it computes, as written to files.
    var key: String {
        let padding = window.padding
        return "\(direction.rawValue) \(x) \(w) to \(y)"
            + " stride \(window.stride.height)x\(window.stride.width)"
            + " dilation \(window.dilation.height)x\(window.dilation.width)"
            + " padding \(padding.top),\(padding.left),\(padding.bottom),\(padding.right)"
            + " groups \(groups) \(allowsTF32 ? "tf32" : "\(format)")"
    }

    /// Multiply-adds.
    var multiplyAdds: Int { y.count * w[1] * w[2] * w[3] }
    /// Whether each channel of y comes from the same one of x.
    var isDepthwise: Bool { groups > 1 && groups == x[1] && groups == w[0] }
    var isStrided: Bool { window.stride.height > 1 || window.stride.width > 1 }
    /// Whether it multiplies each pixel with the same matrix, as a matrix product does.
    var isPointwise: Bool {
        groups == 1 && w[2] == 1 && w[3] == 1 && !isStrided && x[2] == y[2] && x[3] == y[3]
            && window.padding.top == 0 && window.padding.left == 0
    }
}

/// How cuDNN computes a convolution: an engine that is deterministic and does not round float32
/// operands.
final class ConvolutionPlan: @unchecked Sendable {
    let descriptor: CuDNNDescriptor
    let workspaceBytes: Int
    /// The place of the engine in cuDNN's order, from 0.
    let engine: Int
    private let library: CuDNN

    /// Whether it runs on the units for matrix products.
    let usesTensorCores: Bool

    private init(
        _ descriptor: CuDNNDescriptor, engine: Int, _ notes: Notes, _ library: CuDNN
    ) throws(CUDAError) {
        let (executionPlanWorkspace, none): (Int32, Int64) = (402, 0)
        (self.descriptor, self.engine, self.library) = (descriptor, engine, library)
        usesTensorCores = notes.usesTensorCores
        workspaceBytes = Int(
            try descriptor.get(executionPlanWorkspace, .int64, [none]).first ?? 0)
    }

    /// What a plan is for: a GPU that is there, or the properties of another one.
    enum Target {
        case handle(OpaquePointer)
        case properties(CuDNNDescriptor)
    }

    /// The plan with an engine that was chosen, or that cuDNN expects to be the fastest.
    ///
    /// - Parameters:
    ///   - engine: its place in cuDNN's order; another one is taken if it cannot be used.
    ///   - workspaceLimit: in bytes.
    /// - Throws: ``CUDAError`` if cuDNN has no engine.
    static func plan(
        _ call: ConvolutionCall, engine: Int? = nil, for target: Target, workspaceLimit: Int,
        _ library: CuDNN
    ) throws(CUDAError) -> ConvolutionPlan {
        let engines = Engines(
            call: call, target: target, workspaceLimit: workspaceLimit, library: library)
        if let engine, let chosen = try? engines.plans(atMost: 1, at: engine).first {
            return chosen
        }
        return try engines.plans(atMost: 1)[0]
    }

    fileprivate static func plan(
        _ configuration: CuDNNDescriptor, engine: Int, _ notes: Notes, _ target: Target,
        _ library: CuDNN
    ) throws(CUDAError) -> ConvolutionPlan {
        let descriptor = try CuDNNDescriptor(.executionPlan, library)
        let (planHandle, planConfiguration, planProperties): (Int32, Int32, Int32) =
            (400, 401, 407)
        switch target {
        case .handle(let handle): try descriptor.set(planHandle, .handle, [handle])
        case .properties(let properties): try descriptor.set(planProperties, properties)
        }
        try descriptor.set(planConfiguration, configuration)
        try descriptor.finalize("planning")
        return try ConvolutionPlan(descriptor, engine: engine, notes, library)
    }

    /// The pointers for one run: x, w, y and workspace.
    func pack(x: UInt, w: UInt, y: UInt, workspace: UInt) throws(CUDAError) -> CuDNNDescriptor {
        let pack = try CuDNNDescriptor(.variantPack, library)
        let (ids, pointers, workspacePointer): (Int32, Int32, Int32) = (1000, 1001, 1003)
        try pack.set(ids, .int64, [Tensor.x, .w, .y].map(\.rawValue))
        try pack.set(pointers, .pointer, [x, w, y])
        try pack.set(workspacePointer, .pointer, [workspace])
        try pack.finalize("binding memory")
        return pack
    }

    // MARK: Descriptors

    private enum Tensor: Int64 {
        case x = 1
        case w = 2
        case y = 3
    }

    fileprivate static func operationGraph(
        _ call: ConvolutionCall, _ target: Target, _ library: CuDNN
    ) throws(CUDAError) -> CuDNNDescriptor {
        let kind: CuDNNDescriptor.Kind =
            switch call.direction {
            case .forward: .forward
            case .dataGradient: .dataGradient
            case .weightGradient: .weightGradient
            }
        // Attributes of x, w, y, the convolution, and the factors of the sum.
        let attributes: [Int32] =
            switch call.direction {
            case .forward: [704, 703, 705, 702, 700, 701]
            case .dataGradient: [710, 709, 711, 708, 706, 707]
            case .weightGradient: [716, 715, 717, 714, 712, 713]
            }
        let operation = try CuDNNDescriptor(kind, library)
        try operation.set(attributes[0], tensor(.x, call.x, call.format, library))
        try operation.set(attributes[1], tensor(.w, call.w, call.format, library))
        try operation.set(attributes[2], tensor(.y, call.y, call.format, library))
        try operation.set(attributes[3], convolution(call, library))
        try operation.set(attributes[4], .float, [Float(1)])
        try operation.set(attributes[5], .float, [Float(0)])
        try operation.finalize("describing a convolution")
        let graph = try CuDNNDescriptor(.operationGraph, library)
        let (graphHandle, graphOperations): (Int32, Int32) = (800, 801)
        try graph.set(graphOperations, operation)
        if case .handle(let handle) = target { try graph.set(graphHandle, .handle, [handle]) }
        try graph.finalize("describing a graph")
        return graph
    }

    /// A value in channels-last memory.
    private static func tensor(
        _ id: Tensor, _ shape: Shape, _ format: ElementFormat, _ library: CuDNN
    ) throws(CUDAError) -> CuDNNDescriptor {
        let descriptor = try CuDNNDescriptor(.tensor, library)
        let (alignment, type, dimensions, strides, name): (Int32, Int32, Int32, Int32, Int32) =
            (900, 901, 902, 903, 906)
        try descriptor.set(type, .dataType, [format.cuDNN])
        try descriptor.set(dimensions, .int64, shape.dimensions.map(Int64.init))
        try descriptor.set(strides, .int64, Layout.strides(shape).map(Int64.init))
        try descriptor.set(name, .int64, [id.rawValue])
        try descriptor.set(alignment, .int64, [Int64(16)])
        try descriptor.finalize("describing a tensor of \(shape)")
        return descriptor
    }

    private static func convolution(
        _ call: ConvolutionCall, _ library: CuDNN
    ) throws(CUDAError) -> CuDNNDescriptor {
        let descriptor = try CuDNNDescriptor(.convolution, library)
        let (window, crossCorrelation) = (call.window, Int32(1))
        func pair(_ height: Int, _ width: Int) -> [Int64] { [Int64(height), Int64(width)] }
        try descriptor.set(100, .dataType, [ElementFormat.float32.cuDNN])
        try descriptor.set(101, .convolutionMode, [crossCorrelation])
        try descriptor.set(102, .int64, pair(window.dilation.height, window.dilation.width))
        try descriptor.set(103, .int64, pair(window.stride.height, window.stride.width))
        try descriptor.set(104, .int64, pair(window.padding.bottom, window.padding.right))
        try descriptor.set(105, .int64, pair(window.padding.top, window.padding.left))
        try descriptor.set(106, .int64, [Int64(2)])
        try descriptor.finalize("describing a window")
        return descriptor
    }

    // MARK: Engines

    fileprivate static func configurations(
        _ graph: CuDNNDescriptor, _ mode: Int32, _ target: Target, _ library: CuDNN
    ) throws(CUDAError) -> [CuDNNDescriptor] {
        let heuristic = try CuDNNDescriptor(.engineHeuristic, library)
        let (heuristicMode, heuristicGraph, results, properties): (Int32, Int32, Int32, Int32) =
            (200, 201, 202, 204)
        try heuristic.set(heuristicGraph, graph)
        try heuristic.set(heuristicMode, .heuristicMode, [mode])
        if case .properties(let device) = target { try heuristic.set(properties, device) }
        try heuristic.finalize("asking for engines")
        return try heuristic.descriptors(results, .engineConfiguration, count: 64)
    }

    /// What cuDNN notes of an engine (`cudnnBackendNumericalNote_t`).
    fileprivate struct Notes {
        let usesTensorCores, roundsOperands, roundsSums, isDeterministic: Bool

        init(_ configuration: CuDNNDescriptor, _ library: CuDNN) throws(CUDAError) {
            let (configurationEngine, engineNotes): (Int32, Int32) = (300, 1303)
            let engines = try configuration.descriptors(configurationEngine, .engine, count: 1)
            let notes =
                try engines.first?.get(
                    engineNotes, .numericalNote, [Int32](repeating: 0, count: 16)) ?? []
            usesTensorCores = notes.contains(0)
            roundsOperands = notes.contains(1)
            roundsSums = notes.contains(2)
            isDeterministic = !notes.contains(4)
        }

        /// Why an engine is not used; nil if it can be.
        func refusal(of call: ConvolutionCall) -> String? {
            let isExact = call.format == .float32 && !call.allowsTF32
            if !isDeterministic { return "is not deterministic" }
            if roundsSums { return "rounds sums" }
            return isExact && (usesTensorCores || roundsOperands) ? "rounds operands" : nil
        }
    }
}

/// The engines that may compute a convolution.
struct Engines {
    let call: ConvolutionCall
    let target: ConvolutionPlan.Target
    /// In bytes.
    let workspaceLimit: Int
    let library: CuDNN

    /// Plans in cuDNN's order, at least one.
    ///
    /// - Parameters:
    ///   - most: the largest number of plans.
    ///   - place: the only engine to plan for; nil for all.
    /// - Throws: ``CUDAError`` if there is none.
    func plans(atMost most: Int, at place: Int? = nil) throws(CUDAError) -> [ConvolutionPlan] {
        let graph = try ConvolutionPlan.operationGraph(call, target, library)
        let (modeFallback, modeA): (Int32, Int32) = (2, 3)
        var (plans, refused, next) = ([ConvolutionPlan](), [String](), 0)
        for mode in [modeA, modeFallback] where plans.count < most {
            // A heuristic that fails leaves the other.
            do throws(CUDAError) {
                let found = try ConvolutionPlan.configurations(graph, mode, target, library)
                for (engine, configuration) in zip(next..., found)
                where plans.count < most && place ?? engine == engine {
                    do throws(CUDAError) {
                        plans.append(try plan(configuration, engine))
                    } catch {
                        refused.append(error.description)
                    }
                }
                next += found.count
            } catch {
                refused.append(error.description)
            }
        }
        guard plans.isEmpty else { return plans }
        throw CUDAError(
            "cuDNN \(library.versionText) has no engine for \(call); it offered: "
                + "\(refused.isEmpty ? "none" : refused.joined(separator: "; "))")
    }

    private func plan(
        _ configuration: CuDNNDescriptor, _ engine: Int
    ) throws(CUDAError) -> ConvolutionPlan {
        let notes = try ConvolutionPlan.Notes(configuration, library)
        if let reason = notes.refusal(of: call) { throw CUDAError(reason) }
        let plan = try ConvolutionPlan.plan(
            configuration, engine: engine, notes, target, library)
        guard plan.workspaceBytes <= workspaceLimit else {
            throw CUDAError("needs \(plan.workspaceBytes >> 20) MiB")
        }
        return plan
    }
}

extension ElementFormat {
    /// `cudnnDataType_t`.
    fileprivate var cuDNN: Int32 {
        switch self {
        case .float32: 0
        case .float16: 2
        case .bfloat16: 9
        }
    }
}
