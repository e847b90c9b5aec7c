import RetintAppleRuntime
import RetintCUDA
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

    /// What of CUDA there is, for the device `cuda`.
    public struct CUDA: Encodable, Sendable {
        /// One of NVIDIA's libraries.
        public struct Library: Encodable, Sendable {
            /// What it is.
            public let name: String
            /// The file, or its name if the system's loader finds it; nil if there is none.
            public let path: String?
            /// Its version, where it says one.
            public let version: String?
            /// Why it is missing or cannot be used.
            public let problem: String?
        }

        /// A GPU.
        public struct GPU: Encodable, Sendable {
            /// NVIDIA's name for it.
            public let name: String
            /// 90 for an H100.
            public let computeCapability: Int
            /// The bytes of its memory.
            public let memoryBytes: Int
        }

        /// All that the device needs.
        public let libraries: [Library]
        /// The GPUs, by their index.
        public let gpus: [GPU]

        init(_ found: CUDAInspection) {
            libraries = found.libraries.map {
                Library(name: $0.name, path: $0.path, version: $0.version, problem: $0.problem)
            }
            gpus = found.gpus.map {
                GPU(
                    name: $0.name, computeCapability: $0.computeCapability,
                    memoryBytes: $0.memoryBytes)
            }
        }
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
    /// What of CUDA there is.
    public let cuda: CUDA

    /// Inspects the machine. MPI is not started, but Python is, to find out what is installed.
    public init() async {
        processor = Self.processorName
        (processors, memoryBytes) = (Machine.processorCount, Machine.memoryBytes)
        vectorFloats = Machine.vectorFloats
        (blasCore, matrixKernels) = (Machine.blasCore, Machine.matrixKernels)
        cuda = CUDA(CUDAInspection())
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
