extension BenchmarkReport {
    /// A measured training step of several ranks, with everything needed to predict the step for
    /// other numbers of ranks.
    public struct RankReport: Codable, Sendable {
        /// The sum of some bytes of float32 values over all ranks, with nothing else running.
        public struct Sum: Codable, Hashable, Sendable {
            /// The bytes of the values of one rank.
            public let bytes: Int
            /// The median of the slowest rank.
            public let seconds: Double
        }

        /// A step of the slowest rank.
        public struct Step: Codable, Hashable, Sendable {
            /// The median of several steps.
            public let seconds: Double
            /// The part of this that ranks waited for messages or slower ranks: the mean over the
            /// ranks.
            public let waitedSeconds: Double
        }

        /// The number of ranks.
        public let ranks: Int
        /// The images of all ranks together.
        public let batch: Int
        /// As in training: each bucket is sent as soon as its gradients are ready.
        public let step: Step
        /// If all buckets are sent after the backward pass.
        public let stepWithoutOverlap: Step
        /// Without messages, while all ranks compute.
        public let timeline: BenchmarkReport.StepTimeline
        /// The end of the backward pass with one image per rank, in seconds.
        public let oneImageSeconds: Double
        /// Sums of several sizes. The largest is that of all buckets at once.
        public let sums: [Sum]
        /// Fitted to ``sums``, and other costs of messages.
        public let link: BenchmarkReport.LinkParameters
    }
}

extension BenchmarkReport.RankReport {
    /// The images of the rank that has the most.
    var share: Int { Self.share(of: batch, ranks: ranks) }

    private static func share(of batch: Int, ranks: Int) -> Int { (batch + ranks - 1) / ranks }

    /// Predicts the step for a number of ranks.
    ///
    /// - Parameters:
    ///   - ranks: the number of ranks.
    ///   - batch: the images of all ranks together, not less than `ranks`; nil for as many for each
    ///     rank as were measured.
    ///   - link: nil for the measured one.
    public func prediction(
        ranks: Int, batch: Int? = nil, link: BenchmarkReport.LinkParameters? = nil
    ) -> BenchmarkReport.StepPrediction {
        let batch = batch ?? share * ranks
        let own = timeline(ofImages: Self.share(of: batch, ranks: ranks))
        let (step, waited) = own.seconds(on: ranks, link ?? self.link)
        let imagesPerSecond = Double(batch) / step
        let alone = Double(share) / timeline.seconds
        return BenchmarkReport.StepPrediction(
            ranks: ranks, batch: batch, stepSeconds: step, waitedSeconds: waited,
            imagesPerSecond: imagesPerSecond,
            efficiency: imagesPerSecond / (alone * Double(ranks)), waitedShare: waited / step)
    }

    /// The predictions for the measured steps, with and without overlap.
    public var ownPrediction: (step: Step, stepWithoutOverlap: Step) {
        let (with, without) = (
            timeline.seconds(on: ranks, link), timeline.withoutOverlap.seconds(on: ranks, link)
        )
        return (
            Step(seconds: with.step, waitedSeconds: with.waited),
            Step(seconds: without.step, waitedSeconds: without.waited)
        )
    }

    /// Some time of the forward and backward pass is the same for any number of images; the rest
    /// grows with them.
    private func timeline(ofImages images: Int) -> BenchmarkReport.StepTimeline {
        guard images != share else { return timeline }
        let whole = timeline.backwardSeconds
        let seconds =
            share > 1
            ? oneImageSeconds
                + max(whole - oneImageSeconds, 0) * Double(images - 1) / Double(share - 1)
            : whole * Double(images)
        return timeline.scaled(to: seconds)
    }
}
