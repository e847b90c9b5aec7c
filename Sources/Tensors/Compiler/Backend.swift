import RetintDistributed
import RetintGraph
import RetintTensors

/// One step's work on a backend: reads and writes buffers, and allocates nothing when it runs.
package protocol StepKernel: AnyObject {
    /// The operation's name, for reports.
    var name: String { get }
    /// Multiply-adds of one run.
    var multiplyAdds: Int { get }
    /// Whether it reads each element of its operands before it writes that element of its result,
    /// so that the result may overwrite an operand.
    var mayOverwriteOperands: Bool { get }
}

/// What computes the steps of a program. The compiler decides which operations make a step, in
/// which order steps run and where values are; a backend has kernels for them.
package protocol Backend {
    /// Whether it computes an operation element by element, together with others of its shape.
    func isElementwise(_ operation: any Operation) -> Bool

    /// Whether the kernel of an operation can apply elementwise work to its result.
    func appliesElementwiseWork(to operation: any Operation) -> Bool

    /// The kernel of a node's operation.
    ///
    /// - Throws: `GraphError` if there is none, or the operation needs other ranks than there are.
    func kernel(
        of node: Graph.Node, inputs: [Buffer], output: Buffer, _ communicator: Communicator
    ) throws(GraphError) -> any StepKernel

    /// A kernel of elementwise work alone.
    func kernel(of work: ElementwiseWork) -> any StepKernel

    /// Lets a kernel apply elementwise work to its result.
    func append(_ work: ElementwiseWork, to kernel: any StepKernel)

    /// A kernel that copies one buffer to another of the same shape.
    func copy(_ source: Buffer, to target: Buffer) -> any StepKernel

    /// The operand, among the operation's inputs, that a kernel can read pixel by pixel while
    /// another kernel computes it; nil if there is none.
    func observableOperand(of kernel: any StepKernel) -> Int?

    /// Lets `kernel` read that operand while `producer` computes it, if the producer can do that.
    ///
    /// - Returns: whether it does.
    func observe(_ producer: any StepKernel, by kernel: any StepKernel) -> Bool
}

/// Elementwise operations of one shape that are computed together.
package struct ElementwiseWork {
    /// A node, and where its operands and its value are.
    package struct Member {
        package let id: Int
        package let operation: any Operation
        package let inputs: [(node: Int, buffer: Buffer)]
        /// Where the value is written; nil for one that only other members need.
        package let target: Buffer?
    }

    /// The operations' names, joined by "+".
    package let name: String
    /// The shape of all values.
    package let shape: Shape
    /// The node whose value a kernel has just written, if the work follows a kernel.
    package let head: (node: Int, buffer: Buffer)?
    /// In the order in which they are computed.
    package let members: [Member]
}
