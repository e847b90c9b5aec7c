import RetintGraph

/// The graph operations that are lowered to MIL, and the types that raise MIL operations.
enum OperationForms {
    /// In alphabetical order. `OperationFormsTests` compares the list with the sources.
    static let all: [any MILForm.Type] = [
        Absolute.self,
        ActivationQuantization.self,
        Add.self,
        ArcTangent.self,
        Attention.self,
        AveragePool.self,
        BatchNormInference.self,
        Broadcast.self,
        Clip.self,
        Comparisons.self,
        ComposedActivations.self,
        ComposedArithmetic.self,
        ComposedExponentials.self,
        ComposedFunctions.self,
        ComposedReductions.self,
        ComposedRounding.self,
        ComposedTrigonometry.self,
        Concat.self,
        Convolution.self,
        ConvolutionTranspose.self,
        Cosine.self,
        Crop.self,
        Divide.self,
        Einsums.self,
        Equal.self,
        ErrorFunction.self,
        Exp.self,
        FakeQuantizeInput.self,
        Filling.self,
        Floor.self,
        Gather.self,
        GatherElements.self,
        Greater.self,
        GreaterOrEqual.self,
        HardSwish.self,
        Identity.self,
        LeakyRelu.self,
        Linear.self,
        Log.self,
        LogSoftmax.self,
        MatMul.self,
        Max.self,
        MaxPool.self,
        Maximum.self,
        Mean.self,
        Minimum.self,
        Multiply.self,
        Negate.self,
        Negation.self,
        Normalization.self,
        Pad.self,
        PixelShuffle.self,
        PixelUnshuffle.self,
        Power.self,
        Rearrangement.self,
        Recurrent.self,
        Relu.self,
        Relu6.self,
        ReluGradient.self,
        Resample.self,
        Reshape.self,
        Resize.self,
        Reverse.self,
        Round.self,
        Scatter.self,
        ScatterElements.self,
        Selection.self,
        ShapeOf.self,
        Sigmoid.self,
        Sine.self,
        Slice.self,
        Softmax.self,
        Sorting.self,
        Split.self,
        SquareRoot.self,
        Stack.self,
        Subtract.self,
        Sum.self,
        Tanh.self,
        TopIndices.self,
        Transpose.self,
        UnitAxes.self,
        UpsampleBilinear.self,
        UpsampleNearest.self,
    ]

    private static let types = Set(all.map { ObjectIdentifier($0) })
    private static let raisable = Dictionary(
        uniqueKeysWithValues: all.compactMap { $0 as? any MILRaisable.Type }.flatMap { form in
            form.milTypes.map { ($0, form) }
        })

    /// An operation as one that can be lowered; nil if it is not in the list, or is only raised.
    static func lowering(_ operation: any Operation) -> (any MILLowerable)? {
        guard types.contains(ObjectIdentifier(type(of: operation))) else { return nil }
        return operation as? any MILLowerable
    }

    /// The type that raises MIL operations of `milType`; nil if they are not supported.
    static func raising(_ milType: String) -> (any MILRaisable.Type)? { raisable[milType] }
}
