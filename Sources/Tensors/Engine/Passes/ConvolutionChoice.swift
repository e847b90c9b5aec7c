import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

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
            replacement(of: operation, graph, inputs, loaded)
        }
    }

    private func replacement(
        of operation: any Operation, _ graph: Graph, _ inputs: [Tensor], _ loaded: LoadedValues
    ) -> Tensor {
        guard let task = ConvolutionTask(operation, inputs.map(\.shape)) else {
            return depthwise(operation, graph, inputs)
                ?? dense(operation, graph, inputs, loaded) ?? graph.apply(operation, inputs)
        }
        let isFixed = isFixed(task, inputs, loaded)
        let algorithm = algorithm(for: task, isFixed)
        if [.panels, .fewOutputs].contains(algorithm), isFixed,
            let sum = EnlargedProduct(task, inputs)
        {
            func convolved(_ x: Tensor, _ weight: Tensor) -> Tensor {
                replacement(of: operation, graph, [x, weight], loaded)
            }
            return sum.applied(to: graph, formats: formats.fitting(depth:), convolved: convolved)
        }
        return apply(algorithm, task, graph, inputs, isFixed) ?? graph.apply(operation, inputs)
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

    /// The product with a matrix that does not change from run to run.
    private func dense(
        _ operation: any Operation, _ graph: Graph, _ inputs: [Tensor], _ loaded: LoadedValues
    ) -> Tensor? {
        guard let product = operation as? MatMul, !product.transposeX, inputs[1].shape.rank == 2,
            loaded.contains(inputs[1])
        else { return nil }
        let weight = inputs[1].reshaped(Shape(inputs[1].shape.dimensions + [1, 1]))
        let panels = PanelWeights(
            order: product.transposeY ? RT_OUTPUTS_FIRST : RT_INPUTS_FIRST, format: RT_FLOAT32)
        let linear = DenseProduct(
            outputs: inputs[1].shape[product.transposeY ? 0 : 1], weights: panels)
        return graph.apply(linear, [inputs[0], graph.apply(panels, [weight])])
    }

    private func depthwise(
        _ operation: any Operation, _ graph: Graph, _ inputs: [Tensor]
    ) -> Tensor? {
        if let convolution = DepthwiseConvolution(operation, inputs.map(\.shape)) {
            let weights = graph.apply(convolution.weights, [inputs[1]])
            return graph.apply(convolution, [inputs[0], weights])
        }
        guard let convolution = operation as? Convolution, convolution.groups > 1,
            convolution.groups == inputs[0].shape[1], inputs[1].shape[0] > convolution.groups
        else { return nil }
        // Several outputs of each channel: as many channels.
        let repetitions = inputs[1].shape[0] / convolution.groups
        let x = inputs[0].applying(RepeatInterleave(repetitions: repetitions))
        let whole = Convolution(window: convolution.window, groups: x.shape[1])
        return depthwise(whole, graph, [x, inputs[1]])
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
