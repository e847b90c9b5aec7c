extension BenchmarkReport {
    /// When the gradients of a training step on one rank are ready, if nothing is sent.
    public struct StepTimeline: Codable, Hashable, Sendable {
        /// Gradients that are summed over the ranks together.
        public struct Bucket: Codable, Hashable, Sendable {
            /// The bytes of the gradients.
            public let bytes: Int
            /// When the last of the gradients is ready, in seconds from the start of the step.
            public let readySeconds: Double
        }

        /// In the order in which they are sent.
        public let buckets: [Bucket]
        /// The end of the backward pass, in seconds from the start of the step.
        public let backwardSeconds: Double
        /// The time from there to the end of the step: the optimizer's update.
        public let updateSeconds: Double
    }
}

extension BenchmarkReport.StepTimeline {
    /// The step without any messages.
    var seconds: Double { backwardSeconds + updateSeconds }

    var bytes: Int { buckets.reduce(0) { $0 + $1.bytes } }

    /// The same with another share of the batch, which does not affect the update.
    ///
    /// - Parameter backwardSeconds: the end of the backward pass with that share.
    func scaled(to backwardSeconds: Double) -> BenchmarkReport.StepTimeline {
        let factor = self.backwardSeconds > 0 ? backwardSeconds / self.backwardSeconds : 1
        return BenchmarkReport.StepTimeline(
            buckets: buckets.map {
                Bucket(bytes: $0.bytes, readySeconds: $0.readySeconds * factor)
            }, backwardSeconds: backwardSeconds, updateSeconds: updateSeconds)
    }

    /// The same if nothing is sent before the backward pass is done.
    var withoutOverlap: BenchmarkReport.StepTimeline {
        BenchmarkReport.StepTimeline(
            buckets: buckets.map { Bucket(bytes: $0.bytes, readySeconds: backwardSeconds) },
            backwardSeconds: backwardSeconds, updateSeconds: updateSeconds)
    }
}
