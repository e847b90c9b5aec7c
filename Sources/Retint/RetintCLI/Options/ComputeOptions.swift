import ArgumentParser
import Retint

/// A format in which networks multiply.
enum ComputeFormat: String, CaseIterable, ExpressibleByArgument {
    case float32, float16, bfloat16, auto

    var arithmetic: Arithmetic {
        switch self {
        case .float32: .float32
        case .float16: .float16
        case .bfloat16: .bfloat16
        case .auto: .fastest
        }
    }
}

/// The format in which networks multiply.
struct ComputeOptions: ParsableArguments {
    @Option(
        help: """
            The format in which convolutions multiply. In 16 bits, weights take half the memory; \
            CPUs with AVX512-FP16, or AMD's with AVX512-BF16, are also up to twice as fast. auto \
            is the fastest on this CPU. Colors change by less than is visible.
            """)
    var compute = ComputeFormat.float32

    /// Lets a model multiply in this format, and prints the format unless it is float32.
    func applied(to model: consuming Model) -> Model {
        model.arithmetic = compute.arithmetic
        if compute != .float32 {
            Console.note("convolutions multiply in \(compute.arithmetic.summary)")
        }
        return model
    }
}
