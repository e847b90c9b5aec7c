import RetintDistributed

/// How a graph is compiled to a ``Program``: what an ``Execution`` says, and what is chosen for one
/// program alone.
public struct CompileOptions: Sendable {
    /// Whether 3×3 convolutions of stride 1, and 4×4 ones of stride 2, are computed with fewer
    /// multiplications (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016).
    /// Rounding errors are larger: the tests allow a normalized mean square error of 1e-8 instead
    /// of 1e-10.
    public enum Winograd: Sendable {
        /// Nowhere.
        case never
        /// Where the engine expects it to be faster.
        case whereFaster
        /// Wherever the shapes allow it: for tests.
        case wherePossible
    }

    /// What computes.
    public var device = Execution.Device.cpu
    /// Threads to run on, of ``Execution/threadRange``; nil for all processors that the process may
    /// use.
    public var threads: Int?
    /// Rounds every operation's result to half precision, as a float16 accelerator would.
    public var roundsToHalf = false
    /// Where Winograd's algorithms are used.
    public var winograd = Winograd.whereFaster
    /// The format in which convolutions multiply; gradients of weights are computed in float32.
    public var arithmetic = Arithmetic.float32
    /// When products use 16-bit values, if the arithmetic is 16-bit.
    enum HalfProducts {
        case never
        case whereFaster
        /// Wherever the CPU can: for tests.
        case wherePossible
    }
    var halfProducts = HalfProducts.whereFaster
    /// Whether the backward pass recomputes normalized activations instead of keeping them: less
    /// memory, so that a larger batch fits, for more time.
    public var recomputes = false
    /// The memory limit for variables, constants, intermediate results and workspace in bytes; by
    /// default the machine's memory.
    public var memoryLimit = Machine.memoryBytes
    /// Whether variables that are laid out once per load are in memory only during that. They
    /// cannot be read afterwards, and each call of `Program.load(_:)` must name all of them.
    public var releasesWeights = false
    /// The fastest algorithms, measured on this machine; a rule of thumb chooses the others.
    public var choices = KernelChoices()
    /// Measures convolutions that have not been measured yet; its choices then replace ``choices``.
    public var tuner: KernelTuner?

    /// The processes with which the program exchanges messages.
    package var communicator = Communicator.single

    /// The threads within their range.
    var threadCount: Int { Execution(threads: threads).threadCount }

    /// The default options.
    public init() {}

    /// The default options, except for these.
    public init(threads: Int?, winograd: Winograd = .whereFaster) {
        self.threads = threads
        self.winograd = winograd
    }
}
