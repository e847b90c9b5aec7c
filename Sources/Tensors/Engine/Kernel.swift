import RetintCompiler
import RetintDistributed
import RetintGraph
import RetintTensors

/// One step of a compiled program: reads and writes buffers, and allocates nothing when it runs.
///
/// A kernel's other capabilities are stated by the protocols in `KernelCapabilities.swift`.
class Kernel: StepKernel {
    /// The operation's name, for reports.
    let name: String
    /// Roughly how many elements a run touches; small work stays on one thread.
    let work: Int
    /// Multiply-adds of one run.
    var multiplyAdds: Int { 0 }
    final var mayOverwriteOperands: Bool { self is any InPlaceKernel }

    init(name: String, work: Int) {
        self.name = name
        self.work = work
    }

    /// Floats of workspace that a run needs, for all threads together.
    func workspaceCount(threads: Int) -> Int { 0 }

    /// Called once, after all buffers and the workspace have their addresses.
    func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {}

    /// The number of phases of a run. All threads finish one before the next begins.
    var phases: Int { 1 }

    /// The number of pieces of each thread's part of a phase, for work stealing between threads. It
    /// is above 1 only if the results do not depend on which thread computes what.
    func pieces(of phase: Int, threads: Int) -> Int { 1 }

    /// Runs a part of a phase on one thread.
    func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        preconditionFailure("\(name) does not run")
    }
}

/// An operation that the CPU computes. `OperationForms` lists all of them.
protocol CPUOperation: Operation {}

/// An operation that has its own kernel.
protocol KernelOperation: CPUOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel
}

/// An operation whose kernel exchanges messages with the other ranks of the program's job.
protocol ExchangingOperation: CPUOperation, RankOperation {
    func kernel(inputs: [Buffer], output: Buffer, _ communicator: Communicator) -> Kernel
}

/// An operation whose kernel applies elementwise work to its result: an ``EpilogueKernel``.
protocol EpilogueOperation: KernelOperation {}

/// An operation that the engine expresses by others before it compiles.
protocol DecomposableOperation: CPUOperation {
    func decomposed(_ inputs: [Tensor]) -> Tensor
}
