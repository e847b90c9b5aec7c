import RetintGraph

/// Rounds the result of each operation to half precision, as an accelerator that computes in
/// float16 does.
package struct HalfRounding: GraphPass {
    package static let name = "round to half precision"

    package init() {}

    package func run(on input: GraphPassInput) -> GraphPassResult {
        GraphRewrite.run(on: input) { graph, operation, inputs in
            let value = graph.apply(operation, inputs)
            return operation is any MovingOperation ? value : value.applying(RoundToHalf())
        }
    }
}
