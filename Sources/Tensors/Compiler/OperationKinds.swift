import RetintGraph
import RetintTensors

/// An operation whose result has elements of its inputs, unchanged: half precision represents them
/// too.
package protocol MovingOperation: Operation {}

/// An operation that only selects elements of its input.
package protocol ViewOperation: MovingOperation {
    /// Which elements of the input the output holds, in the output's physical order.
    func view(of input: Shape, output: Shape) -> View
}

/// An operation whose result replaces its input in memory. Nothing else may read that input.
package protocol InPlaceOperation: Operation {}

/// An operation that runs as soon as its operands are ready.
package protocol PromptOperation: Operation {}
