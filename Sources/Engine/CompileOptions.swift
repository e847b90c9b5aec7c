/// How a graph is compiled.
public struct CompileOptions: Sendable {
    /// Whether 3×3 convolutions of stride 1 are computed with fewer multiplications (Winograd's
    /// minimal filtering). Rounding errors grow: the tests allow 1e-8 of normalised mean square
    /// error instead of 1e-10.
    public enum Winograd: Sendable {
        case never
        case whereFaster
        /// Wherever the shapes allow it: for tests.
        case wherePossible
    }

    /// Threads to run on; all processors that the process may use if nil.
    public var threads: Int?
    /// Rounds every operation's result to half precision, as a float16 accelerator would.
    public var roundsToHalf = false
    public var winograd = Winograd.whereFaster
    /// Whether a training step computes normalized activations again on the way back instead of
    /// keeping them: less memory, so that a larger batch fits, for more time.
    public var recomputes = false
    /// What was measured on this machine; a rule of thumb decides the rest.
    public var choices = KernelChoices()
    /// Measures what is not known yet; its choices then stand for ``choices``.
    public var tuner: KernelTuner?

    public init() {}

    public init(threads: Int?, winograd: Winograd = .whereFaster) {
        self.threads = threads
        self.winograd = winograd
    }
}
