import RetintAppleRuntime
import RetintDistributed
import RetintEngine
import RetintFiles

/// The hardware and software that retint finds on this machine.
public struct SystemInspection: Encodable, Sendable {
    /// The library for calling MPI.
    public struct MPI: Encodable, Sendable {
        /// The file.
        public let library: String
        /// The MPI that it was compiled for.
        public let version: String
    }

    /// A Python with Apple's Core AI runtime.
    public struct CoreAI: Encodable, Sendable {
        /// The Python.
        public let python: String
        /// The version of the runtime.
        public let version: String
    }

    /// The processor's name; nil if the system does not report it.
    public let processor: String?
    /// The processors that this process may use.
    public let processors: Int
    /// The bytes of memory.
    public let memoryBytes: Int
    /// The floats in a vector of the engine's kernels: 16 with AVX-512, 8 with AVX2, else 4.
    public let vectorFloats: Int
    /// The CPU type that OpenBLAS chose its kernels for.
    public let blasCore: String
    /// Whose kernels multiply matrices.
    public let matrixKernels: String
    /// The library for calling MPI; nil if there is no usable one.
    public let mpi: MPI?
    /// Why it is missing.
    public let mpiProblem: String?
    /// The Python with Apple's Core AI runtime, for `verify --judge apple`; nil if there is no
    /// usable one.
    public let coreAI: CoreAI?
    /// Why it is missing.
    public let coreAIProblem: String?

    /// Inspects the machine. MPI is not started, but Python is, to find out what is installed.
    public init() async {
        processor = Self.processorName
        (processors, memoryBytes) = (Machine.processorCount, Machine.memoryBytes)
        vectorFloats = Machine.vectorFloats
        (blasCore, matrixKernels) = (Machine.blasCore, Machine.matrixKernels)
        do throws(RankError) {
            let library = try MPILibrary.load()
            mpi = MPI(library: library.path, version: library.version)
            mpiProblem = nil
        } catch {
            (mpi, mpiProblem) = (nil, error.description)
        }
        do {
            let runtime = try AppleRuntime()
            try await runtime.check()
            coreAI = CoreAI(python: runtime.python, version: AppleRuntime.version)
            coreAIProblem = nil
        } catch {
            (coreAI, coreAIProblem) = (nil, "\(error)")
        }
    }

    private static var processorName: String? {
        let text = (try? readFile("/proc/cpuinfo", maximumBytes: 1 << 24)) ?? []
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("model name") }),
            let colon = line.firstIndex(of: ":")
        else { return nil }
        return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
}
