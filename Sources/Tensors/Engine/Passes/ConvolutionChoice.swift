import CRetintKernels
import RetintGraph

/// Replaces each convolution, and each gradient of one, by the algorithm that suits its shapes.
struct ConvolutionChoice: GraphPass {
    static let name = "choose convolution algorithms"

    private let winograd: CompileOptions.Winograd
    /// Those of convolutions; weights that change from run to run are not kept in 16 bits.
    private let formats: OperandFormats
    /// The choices measured on this machine.
    private let measured: KernelChoices
    private let threads: Int
    /// Whether a run changes variables, so that weights cannot be laid out beforehand.
    private let learns: Bool

    init(_ options: CompileOptions, measured: KernelChoices, threads: Int, learns: Bool) {
        (winograd, formats) = (options.winograd, OperandFormats(options))
        (self.measured, self.threads, self.learns) = (measured, threads, learns)
    }

    func run(on input: GraphPassInput) -> GraphPassResult {
        let loaded = LoadedValues(learns: learns)
        return GraphRewrite.run(on: input) { graph, operation, inputs in
            guard let task = ConvolutionTask(operation, inputs.map(\.shape)) else {
                return depthwise(operation, graph, inputs) ?? graph.apply(operation, inputs)
            }
            let isFixed = isFixed(task, inputs, loaded)
            let algorithm = algorithm(for: task, isFixed)
            if algorithm == .panels, isFixed, let sum = EnlargedProduct(task, inputs) {
                return sum.applied(to: graph) { formats.fitting(depth: $0) }
            }
            return apply(algorithm, task, graph, inputs, isFixed)
                ?? graph.apply(operation, inputs)
        }
    }

    private func algorithm(for task: ConvolutionTask, _ isFixed: Bool) -> ConvolutionAlgorithm {
        let formats = formats(of: task, isFixed)
        let possible = task.algorithms(winograd, formats)
        let known = measured.algorithm(task, threads: threads, isFixed: isFixed, formats)
        return known.flatMap { possible.contains($0) ? $0 : nil } ?? possible[0]
    }

    /// Whether the weights do not change from run to run.
    func isFixed(_ task: ConvolutionTask, _ inputs: [Tensor], _ loaded: LoadedValues) -> Bool {
        task.kind != .weightGradient && loaded.contains(inputs[1])
    }

    func formats(of task: ConvolutionTask, _ isFixed: Bool) -> OperandFormats {
        guard task.kind != .weightGradient, isFixed || formats.products.isHalf else {
            return .float32
        }
        return formats.fitting(depth: task.inputs[0][1])
    }

    private func apply(
        _ algorithm: ConvolutionAlgorithm, _ task: ConvolutionTask, _ graph: Graph,
        _ inputs: [Tensor], _ isFixed: Bool
    ) -> Tensor? {
        switch algorithm {
        case .direct: nil
        case .fewOutputs:
            graph.apply(
                FewOutputsConvolution(window: task.window, shape: task.output), inputs)
        case .winograd2: tiles(task.tiling(2), task, graph, inputs, isFixed)
        case .winograd3: tiles(task.tiling(3), task, graph, inputs, isFixed)
        case .winograd4: tiles(task.tiling(4), task, graph, inputs, isFixed)
        case .panels: panels(task, graph, inputs, isFixed)
        }
    }

    private func depthwise(
        _ operation: any Operation, _ graph: Graph, _ inputs: [Tensor]
    ) -> Tensor? {
        guard let convolution = DepthwiseConvolution(operation, inputs.map(\.shape)) else {
            return nil
        }
        let weights = graph.apply(convolution.weights, [inputs[1]])
        return graph.apply(convolution, [inputs[0], weights])
    }

    private func tiles(
        _ tiling: WinogradTiling?, _ task: ConvolutionTask, _ graph: Graph, _ inputs: [Tensor],
        _ isFixed: Bool
    ) -> Tensor? {
        guard let tiling else { return nil }
        guard task.kind != .weightGradient else {
            return graph.apply(WinogradWeightGradient(tiling: tiling, shape: task.output), inputs)
        }
        let weights = tiling.weights(areFixed: isFixed)
        var formats = formats(of: task, isFixed)
        // Small ones are kept transformed, and are multiplied as they are.
        if weights == .transformed, !formats.products.isHalf { formats = .float32 }
        let operation = WinogradConvolution(
            tiling: tiling, shape: task.output, weights: weights, formats: formats)
        let second =
            switch weights {
            case .plain: inputs[1]
            case .packed:
                graph.apply(
                    PanelWeights(order: tiling.weightOrder, format: formats.stored), [inputs[1]])
            case .transformed:
                graph.apply(
                    WinogradWeights(tiling: tiling, format: formats.stored), [inputs[1]])
            }
        return graph.apply(operation, [inputs[0], second])
    }

    private func panels(
        _ task: ConvolutionTask, _ graph: Graph, _ inputs: [Tensor], _ isFixed: Bool
    ) -> Tensor {
        let formats = formats(of: task, isFixed)
        let weights = PanelWeights(
            order: task.kind == .transposed ? RT_INPUTS_FIRST : RT_OUTPUTS_FIRST,
            format: formats.stored)
        let operation = PanelConvolution(
            window: task.window, kernel: task.kernel, shape: task.output, weights: weights,
            isPacked: isFixed, products: formats.products)
        let second = isFixed ? graph.apply(weights, [inputs[1]]) : inputs[1]
        return graph.apply(operation, [inputs[0], second])
    }
}

/// The values of a graph that depend only on constants and loaded variables: they are computed
/// once per load. Each node is examined once.
final class LoadedValues {
    private let learns: Bool
    private var known: [Bool] = []

    init(learns: Bool) {
        self.learns = learns
    }

    /// - Parameter value: of the same graph at each call; the graph may have grown since.
    func contains(_ value: Tensor) -> Bool {
        guard !learns else { return false }
        while known.count <= value.id { known.append(isLoaded(value.graph.nodes[known.count])) }
        return known[value.id]
    }

    private func isLoaded(_ node: Graph.Node) -> Bool {
        switch node.operation {
        case is Input: false
        case let variable as Variable: variable.role != .setting
        default: node.inputs.allSatisfy { known[$0] }
        }
    }
}
