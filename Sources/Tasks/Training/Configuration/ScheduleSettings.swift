import Glibc

extension TrainingConfiguration {
    /// The learning rate over the steps, as a share of ``OptimizerSettings/learningRate``.
    public struct ScheduleSettings: Hashable, Sendable {
        /// The curve after the warmup.
        public enum Kind: String, CaseIterable, Hashable, Sendable {
            /// Constant.
            case constant
            /// Down to `finalShare` along half a cosine (`CosineAnnealingLR`).
            case cosine
            /// Multiplied by `factor` after each `every` steps (`StepLR`).
            case step
            /// Up along half a cosine over the first 30 %, then down (`OneCycleLR`).
            case oneCycle = "one-cycle"
        }

        /// The curve after the warmup.
        public var kind = Kind.cosine
        /// Steps at the start over which the rate rises linearly, from 1/`warmupSteps`. One-cycle
        /// has a rise of its own, and takes no other.
        public var warmupSteps = 0
        /// The share of the rate that remains at the end of cosine and one-cycle.
        public var finalShare = 0.01
        /// Steps between the changes of the step schedule.
        public var every = 1000
        /// The factor of each change.
        public var factor = 0.1

        /// The defaults.
        public init() {}
    }
}

extension TrainingConfiguration.ScheduleSettings {
    /// Whether the rate rises in a warmup, and then again from the low beginning of one-cycle.
    var risesTwice: Bool { kind == .oneCycle && warmupSteps > 0 }

    /// The share of the full rate at `step`, counted from 0, of `total`.
    ///
    /// - Parameter elapsed: the share of the time limit that has passed: cosine and one-cycle are
    ///   as far as the steps or the time, whichever is further.
    func share(at step: Int, of total: Int, elapsed: Double = 0) -> Double {
        guard step >= warmupSteps else { return Double(step + 1) / Double(warmupSteps) }
        let (done, length) = (step - warmupSteps, max(total - warmupSteps, 1))
        switch kind {
        case .constant: return 1
        case .cosine:
            let progress = max(Double(done) / Double(length), elapsed)
            return interpolate(1, finalShare, min(progress, 1))
        case .step: return pow(factor, Double(done / every))
        case .oneCycle:
            return oneCycle(max(Double(done), elapsed * Double(length)), of: Double(length))
        }
    }

    /// From 1/25 of the rate up to it, then down to `finalShare` of the initial rate.
    private func oneCycle(_ done: Double, of length: Double) -> Double {
        let initialShare = 0.04
        let rise = max(0.3 * length - 1, 0)
        return done < rise
            ? interpolate(initialShare, 1, done / rise)
            : interpolate(
                1, initialShare * finalShare,
                min((done - rise) / max(length - 1 - rise, 1), 1))
    }

    /// Between two values along half a cosine; `progress` is 0…1.
    private func interpolate(_ first: Double, _ last: Double, _ progress: Double) -> Double {
        last + (first - last) * (1 + cos(.pi * progress)) / 2
    }
}

extension TrainingConfiguration.ScheduleSettings: ConfigurationSection {
    static var fields: [TrainingConfiguration.Field] {
        [
            .init("schedule.kind", \.schedule.kind, .any, "curve of the learning rate"),
            .init(
                "schedule.warmup_steps", \.schedule.warmupSteps, .range(0...1_000_000_000),
                "steps of linear rise; 0 with one-cycle, which has a rise of its own"),
            .init(
                "schedule.final_share", \.schedule.finalShare, .range(0...1),
                "share of the rate at the end of cosine and one-cycle"),
            .init(
                "schedule.every", \.schedule.every, .range(1...1_000_000_000),
                "steps between changes by the step schedule"),
            .init(
                "schedule.factor", \.schedule.factor, .range(0.000001...1),
                "factor of each change"),
        ]
    }
}
