import ArgumentParser
import Retint

/// The memory that networks may take.
struct MemoryOptions: ParsableArguments {
    @Option(
        help: .rare(
            """
            The memory limit for a network's activations. By default 768 MiB for 512 × 512 \
            pixels, proportionally for other sizes, and at least 192 MiB or 64 times its weights. \
            A higher limit allows a run more time, too.
            """, valueName: "MiB"))
    var memoryLimit: Int?

    func validate() throws {
        if let memoryLimit, !(1...1 << 24).contains(memoryLimit) {
            throw ValidationError("--memory-limit \(memoryLimit): must be from 1 to \(1 << 24)")
        }
    }

    /// How networks run whose results are measured: on all processors, always by the same kernels.
    var execution: Execution { Execution(memoryLimit: memoryLimit.map { $0 << 20 }) }

    /// How networks run that are to be fast: by the kernels that are the fastest on this machine.
    var fastExecution: Execution {
        var execution = execution
        execution.kernels = KernelFile.read()
        return execution
    }

    /// How networks run that are to be fast.
    ///
    /// - Parameter threads: the command's own `--threads`.
    func execution(threads: Int?) throws -> Execution {
        try check(threads, "--threads", Execution.threadRange)
        var execution = fastExecution
        execution.threads = threads
        return execution
    }
}
