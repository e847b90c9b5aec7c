import Retint

extension SystemInspection {
    /// The inspection as text.
    var lines: [String] {
        let vectors = [16: "AVX-512", 8: "AVX2"][vectorFloats] ?? "the base instruction set"
        let library = mpi.map { "MPI: \($0.version), through \($0.library)" }
        let runtime = coreAI.map { "Apple's Core AI runtime: \($0.version), in \($0.python)" }
        return [
            "processor: \(processor ?? "unknown"), \(Format.grouped(processors)) usable, "
                + "\(Format.bytes(memoryBytes)) of memory",
            "kernels: for \(vectors); OpenBLAS has those for \(blasCore); matrices are multiplied "
                + "by \(matrixKernels)",
            library ?? "MPI: none: \(mpiProblem ?? "")",
            runtime ?? "Apple's Core AI runtime: none: \(coreAIProblem ?? "")",
        ] + cuda.lines
    }
}

extension SystemInspection.CUDA {
    /// A line for each GPU, and what is missing; or why there is no GPU.
    fileprivate var lines: [String] {
        let problems = libraries.compactMap(\.problem)
        guard !gpus.isEmpty else {
            return ["GPU: none: \(problems.first ?? "the driver finds none")"]
        }
        let devices = gpus.enumerated().map { index, gpu in
            "GPU \(index): \(gpu.name), compute capability \(gpu.computeCapability / 10)."
                + "\(gpu.computeCapability % 10), \(Format.bytes(gpu.memoryBytes)) of memory"
        }
        let found = libraries.filter { $0.problem == nil }.map {
            "\($0.name) \($0.version.map { "\($0) " } ?? "")(\($0.path ?? ""))"
        }
        return devices + ["CUDA: \(found.joined(separator: ", "))"]
            + problems.map { "CUDA: missing: \($0)" }
    }
}
