import TensorGraph

/// Rewrites operations into those that the engine has kernels for.
struct Lowering {
    let roundsToHalf: Bool

    func callAsFunction(
        _ graph: Graph, _ operation: any Operation, _ inputs: [Tensor]
    ) -> Tensor {
        let value =
            (operation as? any DecomposableOperation)?.decomposed(inputs)
            ?? graph.apply(operation, inputs)
        return roundsToHalf && rounds(operation) ? value.applying(RoundToHalf()) : value
    }

    /// Moving numbers changes none of them; all else is computed anew and rounded.
    private func rounds(_ operation: any Operation) -> Bool {
        !(operation is any ViewOperation || operation is Reshape || operation is Concat
            || operation is SliceScatter)
    }
}
