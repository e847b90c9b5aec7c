import RetintGraph
import RetintTensors

/// One step of a compiled program: a kernel, and which values it reads and writes.
struct Step {
    let kernel: Kernel
    /// Runs when variables are loaded, not at every run.
    let isHoisted: Bool
    /// The module that applied its first operation, and the shape of its result: for reports.
    let module: String
    let shape: Shape
    /// Elements that it reads and writes, each once.
    var traffic: Int
    /// The nodes that it computes.
    var nodes: Set<Int>
    /// The nodes whose memory it reads, and whose memory it writes.
    var reads: [Int]
    var writes: [Int]
}

/// One transformation of the list of steps: returns steps that compute the same values.
protocol StepPass {
    /// A short description of the pass.
    static var name: String { get }

    func run(on steps: [Step], values: ValueTable) -> [Step]
}
