import RetintCompiler
import RetintGraph

/// The operations that the CPU computes: those of the graph, and those that replace them in the
/// engine's passes.
enum OperationForms {
    /// In alphabetical order. `OperationFormsTests` compares the list with the sources.
    static let all: [any CPUOperation.Type] = [
        Absolute.self,
        Add.self,
        AllReduceFinish.self,
        AllReduceStart.self,
        ArcTangent.self,
        AsStrided.self,
        Attention.self,
        AveragePool.self,
        AveragePoolGradient.self,
        BatchMoments.self,
        BatchNormGradientSums.self,
        BatchNormInference.self,
        BatchNormInputGradient.self,
        BatchNormTraining.self,
        BatchedProduct.self,
        Broadcast.self,
        ChannelGate.self,
        Clip.self,
        CombinedMoments.self,
        CombinedSums.self,
        Concat.self,
        Convolution.self,
        ConvolutionTranspose.self,
        ConvolutionWeightGradient.self,
        Cosine.self,
        DenseProduct.self,
        DepthwiseConvolution.self,
        DepthwiseWeights.self,
        Divide.self,
        Equal.self,
        ErrorFunction.self,
        Exp.self,
        FakeQuantize.self,
        FewOutputsConvolution.self,
        Floor.self,
        Gelu.self,
        Greater.self,
        GreaterOrEqual.self,
        HardSwish.self,
        LeakyRelu.self,
        LeakyReluGradient.self,
        Log.self,
        LogSoftmax.self,
        MatMul.self,
        Max.self,
        MaxPool.self,
        MaxPoolGradient.self,
        Maximum.self,
        Mean.self,
        Minimum.self,
        Multiply.self,
        Negate.self,
        OrderedPixelShuffle.self,
        Pad.self,
        PanelConvolution.self,
        PanelWeights.self,
        PixelShuffle.self,
        PixelUnshuffle.self,
        Power.self,
        Relu.self,
        Relu6.self,
        Relu6Gradient.self,
        ReluGradient.self,
        RepeatInterleave.self,
        Reshape.self,
        Round.self,
        RoundToHalf.self,
        RowNormalization.self,
        Sigmoid.self,
        Sine.self,
        Slice.self,
        SliceScatter.self,
        Softmax.self,
        SquareRoot.self,
        Subtract.self,
        Sum.self,
        Tanh.self,
        Transpose.self,
        UpsampleBilinear.self,
        UpsampleBilinearGradient.self,
        UpsampleNearest.self,
        WinogradConvolution.self,
        WinogradWeightGradient.self,
        WinogradWeights.self,
    ]

    private static let types = Set(all.map { ObjectIdentifier($0) })

    /// The kernel of an operation; nil if it is not in the list, or does not have its own kernel.
    static func kernel(
        for operation: any Operation, inputs: [Buffer], output: Buffer
    ) -> Kernel? {
        guard types.contains(ObjectIdentifier(type(of: operation))) else { return nil }
        return (operation as? any KernelOperation)?.kernel(inputs: inputs, output: output)
    }
}
