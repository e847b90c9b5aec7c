/// How networks run: on what, and with which trade of speed, memory and last bits.
///
///     let execution = Execution(threads: 4, arithmetic: .fastest)
///     let model = try Model(contentsOf: "colorizer.h5", execution: execution)
public struct Execution: Hashable, Sendable {
    /// What computes.
    public enum Device: Hashable, Sendable {
        /// The processors of this machine, in float32.
        case cpu
        /// Every operation in float64 on one thread, as it is defined: much slower than ``cpu``,
        /// for comparisons that show what float32 loses. The arithmetic of ``Execution`` does not
        /// change it.
        case reference
        /// An NVIDIA GPU, by its index from 0. Nothing of CUDA is needed until a program is made
        /// for one: then the driver, cuDNN 9, cuBLASLt and NVRTC are.
        case cuda(index: Int = 0)
    }

    /// What computes.
    public var device: Device
    /// Threads to run on, of ``threadRange``; nil for all processors that the process may use.
    public var threads: Int?
    /// The numbers of threads that a network runs on.
    public static let threadRange = 1...1024
    /// The format in which convolutions multiply.
    public var arithmetic: Arithmetic
    /// The bytes that the values of a network may take, up to the memory of the machine. If nil,
    /// 768 MiB for 512 × 512 pixels and in proportion for others, but at least 192 MiB, and at
    /// least 64 times the weights, with larger images in proportion. A small file cannot take all
    /// memory then.
    public var memoryLimit: Int?
    /// The fastest algorithms, measured on this machine.
    public var kernels: KernelChoices

    /// Runs on all processors in float32, unless told otherwise.
    public init(
        device: Device = .cpu, threads: Int? = nil, arithmetic: Arithmetic = .float32,
        memoryLimit: Int? = nil, kernels: KernelChoices = KernelChoices()
    ) {
        self.device = device
        self.threads = threads
        self.arithmetic = arithmetic
        self.memoryLimit = memoryLimit
        self.kernels = kernels
    }
}

extension Execution {
    /// The threads within their range; all processors that the process may use unless stated.
    package var threadCount: Int {
        let range = Self.threadRange
        return min(max(threads ?? Machine.processorCount, range.lowerBound), range.upperBound)
    }

    /// What the engine is told of it.
    package var compileOptions: CompileOptions {
        var options = CompileOptions(threads: threads)
        options.device = device
        options.arithmetic = arithmetic
        options.choices = kernels
        if let memoryLimit { options.memoryLimit = min(memoryLimit, options.memoryLimit) }
        return options
    }
}

extension Execution.Device {
    /// Whether values are in the memory of a GPU.
    package var isGPU: Bool { if case .cuda = self { true } else { false } }
}

extension Execution.Device: RawRepresentable, CaseIterable {
    /// Those that every machine has.
    public static let allCases: [Execution.Device] = [.cpu, .reference]

    /// `cpu`, `reference`, `cuda` for the first GPU, or `cuda:1` for the one with index 1.
    public init?(rawValue: String) {
        let parts = rawValue.split(separator: ":", omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("cpu", 1): self = .cpu
        case ("reference", 1): self = .reference
        case ("cuda", 1): self = .cuda()
        case ("cuda", 2):
            guard let index = Int(parts[1]), (0..<1024).contains(index), "\(index)" == parts[1]
            else { return nil }
            self = .cuda(index: index)
        default: return nil
        }
    }

    public var rawValue: String {
        switch self {
        case .cpu: "cpu"
        case .reference: "reference"
        case .cuda(let index): index == 0 ? "cuda" : "cuda:\(index)"
        }
    }
}
