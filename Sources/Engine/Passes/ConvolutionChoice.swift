import CKernels
import TensorGraph

/// Replaces each convolution, and each gradient of one, by the algorithm that suits its shapes.
struct ConvolutionChoice {
    let winograd: CompileOptions.Winograd
    /// What was measured on this machine.
    let measured: KernelChoices
    let threads: Int
    /// Whether variables change from run to run, so that weights cannot be laid out beforehand.
    let learns: Bool

    func callAsFunction(
        _ graph: Graph, _ operation: any Operation, _ inputs: [Tensor]
    ) -> Tensor {
        guard let task = ConvolutionTask(operation, inputs.map(\.shape)) else {
            return graph.apply(operation, inputs)
        }
        let isFixed = isFixed(task, inputs, graph)
        let possible = task.algorithms(winograd)
        let known = measured.algorithm(task, threads: threads, isFixed: isFixed)
        let algorithm = known.flatMap { possible.contains($0) ? $0 : nil } ?? possible[0]
        return apply(algorithm, task, graph, inputs, isFixed)
            ?? graph.apply(operation, inputs)
    }

    /// Whether the weights do not change from run to run.
    func isFixed(_ task: ConvolutionTask, _ inputs: [Tensor], _ graph: Graph) -> Bool {
        task.kind != .weightGradient && isConstantPerLoad(inputs[1], graph)
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

    private func tiles(
        _ tiling: WinogradTiling?, _ task: ConvolutionTask, _ graph: Graph, _ inputs: [Tensor],
        _ isFixed: Bool
    ) -> Tensor? {
        guard let tiling else { return nil }
        guard task.kind != .weightGradient else {
            return graph.apply(WinogradWeightGradient(tiling: tiling, shape: task.output), inputs)
        }
        let weights = WinogradWeights(tiling: tiling, order: tiling.weightOrder)
        let operation = WinogradConvolution(
            tiling: tiling, shape: task.output, weights: isFixed ? nil : weights)
        let second = isFixed ? graph.apply(weights, [inputs[1]]) : inputs[1]
        return graph.apply(operation, [inputs[0], second])
    }

    private func panels(
        _ task: ConvolutionTask, _ graph: Graph, _ inputs: [Tensor], _ isFixed: Bool
    ) -> Tensor {
        let weights = PanelWeights(isTransposed: task.kind == .transposed)
        let operation = PanelConvolution(
            window: task.window, kernel: task.kernel, shape: task.output, weights: weights,
            isPacked: isFixed)
        let second = isFixed ? graph.apply(weights, [inputs[1]]) : inputs[1]
        return graph.apply(operation, [inputs[0], second])
    }

    /// Whether a value depends on constants and loaded variables alone.
    private func isConstantPerLoad(_ value: Tensor, _ graph: Graph) -> Bool {
        guard !learns else { return false }
        var open = [value.id]
        while let id = open.popLast() {
            let node = graph.nodes[id]
            if node.operation is Input { return false }
            if let variable = node.operation as? Variable, variable.role == .setting {
                return false
            }
            open += node.inputs
        }
        return true
    }
}
