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
        /// Up along half a cosine over the first 30 %, then down along one (`OneCycleLR`).
        case oneCycle = "one-cycle"
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
        case .oneCycle: return oneCycle(Double(done), of: Double(length))
        }
    }

    /// From a 25th of the rate up to it, then down to `finalShare` of where it began.
    private func oneCycle(_ done: Double, of length: Double) -> Double {
        let (start, rise) = (0.04, max(0.3 * length - 1, 0))
        func between(_ from: Double, _ to: Double, _ share: Double) -> Double {
            to + (from - to) * (1 + cos(.pi * share)) / 2
        }
        return done < rise
            ? between(start, 1, done / rise)
            : between(1, start * finalShare, min((done - rise) / max(length - 1 - rise, 1), 1))
    }
}
