import RetintCompiler
import RetintGraph

/// Expresses operations by simpler ones.
struct Decomposition: GraphPass {
    static let name = "decompose operations"

    func run(on input: GraphPassInput) -> GraphPassResult {
        GraphRewrite.run(on: input) { graph, operation, inputs in
            (operation as? any DecomposableOperation)?.decomposed(inputs)
                ?? (operation as? any ComposedOperation)?.composed(inputs)
                ?? graph.apply(operation, inputs)
        }
    }
}
