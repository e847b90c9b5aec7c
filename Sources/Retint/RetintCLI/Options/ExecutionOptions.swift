import ArgumentParser
import Retint

/// How a command runs networks, where it can choose.
struct ExecutionOptions: ParsableArguments {
    @OptionGroup var memory: MemoryOptions

    @Option(
        help: """
            The format in which convolutions multiply. In 16 bits, weights take half the memory; \
            CPUs with AVX512-FP16, or AMD's with AVX512-BF16, are also up to twice as fast. auto \
            is the fastest on this CPU. The change in colors is too small to see.
            """)
    var compute = ComputeFormat.float32

    @OptionGroup var device: DeviceOption

    /// - Parameter threads: the command's own `--threads`, whose help says what each is for.
    func value(threads: Int?) throws -> Execution {
        var execution = try memory.execution(threads: threads)
        execution.arithmetic = compute.arithmetic
        execution.device = device.value
        return execution
    }

    /// Says which format a model multiplies in unless it is float32.
    func note() {
        guard compute != .float32 else { return }
        Console.note("convolutions multiply in \(compute.arithmetic.summary(on: device.value))")
    }
}

/// A format in which networks multiply.
enum ComputeFormat: String, CaseIterable {
    case float32, float16, bfloat16, tf32, auto

    var arithmetic: Arithmetic {
        switch self {
        case .float32: .float32
        case .float16: .float16
        case .bfloat16: .bfloat16
        case .tf32: .tf32
        case .auto: .fastest
        }
    }
}

/// What runs networks.
struct DeviceOption: ParsableArguments {
    @Option(
        help: """
            What computes: cpu; cuda, an NVIDIA GPU, or cuda:1 for the one with index 1; or \
            reference, which is slow and computes in float64. Default: cpu.
            """)
    var device: Execution.Device?

    var value: Execution.Device { device ?? .cpu }
}

extension Execution.Device: ExpressibleByArgument {
    // Indices make more than a few words.
    public static var allValueStrings: [String] { [] }
}
