import RetintDistributed
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

extension RankOperation {
    /// Why a program that is compiled for some ranks cannot have the operation; nil if it can.
    package func problem(on communicator: Communicator) -> String? {
        guard ranks != communicator.size else { return nil }
        return "this operation is of \(ranks) ranks, and the program is compiled for "
            + "\(communicator.size); set CompileOptions.communicator"
    }
}

/// An operation that runs as soon as its operands are ready.
package protocol PromptOperation: Operation {}
