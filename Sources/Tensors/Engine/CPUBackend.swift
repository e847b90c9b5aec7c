import RetintCompiler
import RetintDistributed
import RetintGraph
import RetintTensors

/// The processors of this machine: kernels in float32 on all threads of a pool.
struct CPUBackend: Backend {
    func isElementwise(_ operation: any Operation) -> Bool {
        operation is any LoopOperation || operation is any ViewOperation
    }

    func appliesElementwiseWork(to operation: any Operation) -> Bool {
        operation is any EpilogueOperation
    }

    func kernel(
        of node: Graph.Node, inputs: [Buffer], output: Buffer, _ communicator: Communicator
    ) throws(GraphError) -> any StepKernel {
        if let kernel = OperationForms.kernel(for: node.operation, inputs: inputs, output: output) {
            return kernel
        }
        func failure(_ reason: String) -> GraphError {
            GraphError(
                operation: node.operation.name, module: node.module,
                inputShapes: inputs.map(\.shape), reason: reason)
        }
        if let operation = node.operation as? any HostOperation {
            return HostKernel(operation, module: node.module, inputs: inputs, output: output)
        }
        if let operation = node.operation as? any ExchangingOperation {
            if let problem = operation.problem(on: communicator) { throw failure(problem) }
            return operation.kernel(inputs: inputs, output: output, communicator)
        }
        throw failure(
            "the engine has no kernel for this operation; "
                + "let it adopt HostOperation, or build it from other operations")
    }

    func kernel(of work: ElementwiseWork) -> any StepKernel {
        ElementwiseKernel(name: work.name, programs: [ElementwiseBuilder.program(of: work)])
    }

    func append(_ work: ElementwiseWork, to kernel: any StepKernel) {
        guard let host = kernel as? any EpilogueKernel else { return }
        host.epilogue = ElementwiseBuilder.program(of: work)
    }

    func copy(_ source: Buffer, to target: Buffer) -> any StepKernel {
        CopyKernel(source: source, target: target)
    }

    func observableOperand(of kernel: any StepKernel) -> Int? {
        (kernel as? any ObservingKernel)?.observedInput
    }

    func observe(_ producer: any StepKernel, by kernel: any StepKernel) -> Bool {
        guard let observer = kernel as? any ObservingKernel,
            let host = producer as? any ObservableKernel,
            host.canBeObserved(channels: observer.channels)
        else { return false }
        observer.isObserving = true
        host.observers.append(observer)
        return true
    }
}

extension Step {
    /// Its kernel, which is one of the CPU's.
    var cpuKernel: Kernel {
        guard let kernel = kernel as? Kernel else {
            preconditionFailure("\(self.kernel.name) is not a kernel of the CPU")
        }
        return kernel
    }
}
