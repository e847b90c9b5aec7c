import RetintGraph
import RetintTensors

/// A kernel that only records its work, for backends that look at it once values have memory.
package final class RecordedKernel: StepKernel {
    package enum Work {
        case operation(Graph.Node, inputs: [Buffer], output: Buffer)
        case elementwise(ElementwiseWork)
        case copy(Buffer, to: Buffer)
    }

    package let name: String
    /// Done one after another.
    package private(set) var work: [Work]
    package let multiplyAdds: Int

    package init(_ name: String, _ work: Work, multiplyAdds: Int = 0) {
        (self.name, self.work, self.multiplyAdds) = (name, [work], multiplyAdds)
    }

    package func append(_ work: Work) { self.work.append(work) }

    /// All elements of one piece of work are read before the first is written, or each before it is
    /// written.
    package var mayOverwriteOperands: Bool { work.count == 1 }
}

extension Step {
    /// What its kernel has recorded.
    package var recordedWork: [RecordedKernel.Work] {
        guard let kernel = kernel as? RecordedKernel else {
            preconditionFailure("\(self.kernel.name) is not a recorded kernel")
        }
        return kernel.work
    }
}
