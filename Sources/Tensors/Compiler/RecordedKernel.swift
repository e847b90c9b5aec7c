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

    /// The messages that it exchanges with other ranks; nil if there are none.
    package var message: String? {
        guard case .operation(let node, _, let output) = work.first,
            let operation = node.operation as? any RankOperation
        else { return nil }
        return operation.message(of: output.count)
    }

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

/// A backend whose kernels only record their work.
package protocol RecordingBackend: Backend {}

extension RecordingBackend {
    package func isElementwise(_ operation: any Operation) -> Bool {
        operation is any ElementwiseOperation || operation is any ViewOperation
    }

    package func kernel(of work: ElementwiseWork) -> any StepKernel {
        RecordedKernel(work.name, .elementwise(work))
    }

    package func append(_ work: ElementwiseWork, to kernel: any StepKernel) {
        (kernel as? RecordedKernel)?.append(.elementwise(work))
    }

    package func copy(_ source: Buffer, to target: Buffer) -> any StepKernel {
        RecordedKernel("copy", .copy(source, to: target))
    }

    package func observableOperand(of kernel: any StepKernel) -> Int? { nil }
    package func observe(_ producer: any StepKernel, by kernel: any StepKernel) -> Bool { false }
}
