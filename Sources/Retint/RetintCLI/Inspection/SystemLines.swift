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
        ]
    }
}
