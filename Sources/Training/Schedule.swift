import Glibc

/// How the learning rate goes from step to step.
package struct Schedule: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The same throughout.
        case constant
        /// Down to `finalShare` along half a cosine (`CosineAnnealingLR`).
        case cosine
        /// Times `factor` after every `every` steps (`StepLR`).
        case step
    }

    package var kind = Kind.cosine
    /// Steps at the start over which the rate rises linearly from 1/`warmupSteps` of itself.
    package var warmupSteps = 0
    /// What the cosine leaves of the rate at the end.
    package var finalShare = 0.01
    package var every = 1000
    package var factor = 0.1

    package init() {}

    /// The share of the full rate at `step`, counted from 0, of `total`.
    package func share(at step: Int, of total: Int) -> Double {
        guard step >= warmupSteps else { return Double(step + 1) / Double(warmupSteps) }
        let (done, length) = (step - warmupSteps, max(total - warmupSteps, 1))
        switch kind {
        case .constant: return 1
        case .cosine:
            let progress = min(Double(done) / Double(length), 1)
            return finalShare + (1 - finalShare) * (1 + cos(.pi * progress)) / 2
        case .step: return pow(factor, Double(done / every))
        }
    }
}
