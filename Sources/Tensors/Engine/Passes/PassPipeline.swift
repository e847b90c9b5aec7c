import RetintCompiler
import RetintGraph

/// The passes between a user's graph and the steps of a program, in the order in which they run.
struct PassPipeline {
    /// Passes over the graph.
    let graphPasses: [any GraphPass]
    /// Passes over the steps that the compiler created from the graph.
    let stepPasses: [any StepPass] = [KernelChaining(), ElementwiseBatching()]

    /// - Parameters:
    ///   - choices: the algorithms measured to be fastest.
    ///   - learns: whether a run changes variables.
    init(_ options: CompileOptions, choices: KernelChoices, threads: Int, learns: Bool) {
        let convolutions = ConvolutionChoice(
            options, measured: choices, threads: threads, learns: learns)
        let recomputation: [any GraphPass] = options.recomputes ? [Recomputation()] : []
        graphPasses =
            Self.preparation(options, learns: learns) + [convolutions, MovementComposition.forCPU]
            + recomputation
    }

    /// The passes before convolutions get their algorithms.
    static func preparation(_ options: CompileOptions, learns: Bool) -> [any GraphPass] {
        let rounding: [any GraphPass] = options.roundsToHalf ? [HalfRounding()] : []
        return [LayoutChoice(learns: learns)] + rounding + [
            Decomposition(), NormalizationFusion(), AttentionFusion(), ActivationFusion(),
            GateFusion(), ParallelConvolutions(learns: learns),
            SubpixelConvolutions(learns: learns), ShuffleOrder(learns: learns),
        ]
    }

    /// Runs `passes` one after another.
    ///
    /// - Returns: the last graph, and the map from the first graph's nodes to its nodes.
    /// - Throws: ``GraphError`` if a pass violated a rule of an operation.
    static func run(
        _ passes: [any GraphPass], on graph: Graph, roots: [Int]
    ) throws(GraphError) -> GraphPassResult {
        var identity = NodeMap(of: graph)
        for id in graph.live(from: roots) { identity[id] = id }
        var result = GraphPassResult(
            graph: graph, ids: identity, backwardStart: graph.backwardStart)
        for pass in passes {
            let next = pass.run(
                on: GraphPassInput(
                    graph: result.graph, roots: roots.map { result.ids[$0] },
                    backwardStart: result.backwardStart))
            if let error = next.graph.error { throw error.during(type(of: pass).name) }
            result = GraphPassResult(
                graph: next.graph, ids: result.ids.then(next.ids),
                backwardStart: next.backwardStart)
        }
        return result
    }
}

extension GraphError {
    /// This error, as one of a pass.
    fileprivate func during(_ pass: String) -> GraphError {
        GraphError(
            operation: operation, module: module, inputShapes: inputShapes,
            reason: "\(reason); this happened in the engine's pass to \(pass)")
    }
}
