import RetintGraph
import RetintTensors

/// One step of a compiled program: a kernel, and which values it reads and writes.
package struct Step {
    package let kernel: any StepKernel
    /// Runs when variables are loaded, not at every run.
    package let isHoisted: Bool
    /// The module that applied its first operation, and the shape of its result: for reports.
    package let module: String
    package let shape: Shape
    /// Elements that it reads and writes, each once.
    package var traffic: Int
    /// The nodes that it computes.
    package var nodes: Set<Int>
    /// The nodes whose memory it reads, and whose memory it writes.
    package var reads: [Int]
    package var writes: [Int]

    package init(
        kernel: any StepKernel, isHoisted: Bool, module: String, shape: Shape, traffic: Int,
        nodes: Set<Int>, reads: [Int], writes: [Int]
    ) {
        (self.kernel, self.isHoisted) = (kernel, isHoisted)
        (self.module, self.shape, self.traffic) = (module, shape, traffic)
        (self.nodes, self.reads, self.writes) = (nodes, reads, writes)
    }
}

/// One transformation of the list of steps: returns steps that compute the same values.
package protocol StepPass {
    /// A short description of the pass.
    static var name: String { get }

    func run(on steps: [Step], values: ValueTable) -> [Step]
}
