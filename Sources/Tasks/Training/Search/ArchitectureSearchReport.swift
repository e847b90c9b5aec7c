import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintRuntime

/// The result of a search: the quality and the cost of each candidate.
public struct ArchitectureSearchReport: Hashable, Sendable, Encodable {
    /// A candidate after its last round.
    public struct Candidate: Hashable, Sendable, Codable {
        /// The candidate's name.
        public let candidate: String
        /// The path of its best weights.
        public let checkpoint: String
        /// The number of training steps.
        public let steps: Int
        /// Whether it took part in the last round.
        public let isFinalist: Bool
        /// Weights of the network, folded for inference.
        public let parameters: Int
        /// Multiply-adds of one image.
        public let multiplyAdds: Int
        /// The size of the weights in float16.
        public let bytes: Int
        /// The median time to color an image.
        public let medianSeconds: Double
        /// The validation loss.
        public let loss: Double
        /// The mean CIEDE2000 color difference on the validation photos.
        public let deltaE2000: Double
        /// The mean colorfulness of the images.
        public let colorfulness: Double
        /// The PSNR on the validation photos in dB; nil if all are exact.
        public let psnrDb: Double?
    }

    /// A candidate that dropped out because its training diverged.
    public struct Divergence: Hashable, Sendable, Codable {
        /// The candidate's name.
        public let candidate: String
        /// The step, and which value was no longer finite.
        public let problem: String
    }

    /// The side of the square image that latency is measured on.
    public let size: Int
    /// Steps after which each round ended.
    public let rungs: [Int]
    /// The best first; without those that diverged.
    public let candidates: [Candidate]
    /// The candidates whose training diverged, which rank below all others.
    public let diverged: [Divergence]

    /// The candidates that no other candidate beats in both cost and color difference, of those
    /// that were trained longest: a candidate that was dropped early is not worse for that.
    ///
    /// - Parameter cost: the cost to weigh against the color difference, such as the latency.
    public func paretoFront(_ cost: (Candidate) -> Double) -> [Candidate] {
        let longest = candidates.map(\.steps).max()
        let finalists = candidates.filter { $0.steps == longest }
        return finalists.filter { row in
            !finalists.contains { other in
                let (otherCost, rowCost) = (cost(other), cost(row))
                return otherCost <= rowCost && other.deltaE2000 <= row.deltaE2000
                    && (otherCost < rowCost || other.deltaE2000 < row.deltaE2000)
            }
        }
    }
}

extension ArchitectureSearchReport.Candidate {
    init(_ result: CandidateResult, imageSize: Int) throws {
        let configuration = result.candidate.configuration
        candidate = result.candidate.name
        checkpoint = RunFolder(configuration.output).best
        (steps, isFinalist) = (result.steps, result.isFinalist)
        let (folded, network) = try Checkpoint(contentsOf: checkpoint).madeForInference()
        let summary = NetworkSummary(of: network, input: [1, 1, imageSize, imageSize])
        (parameters, multiplyAdds) = (summary.parameters, summary.multiplyAdds)
        bytes = 2 * parameters
        medianSeconds = try Self.latency(folded, imageSize, threads: configuration.threads)
        (loss, deltaE2000) = (result.metrics.loss, result.metrics.deltaE2000)
        (colorfulness, psnrDb) = (result.metrics.colorfulness, result.metrics.psnr)
    }

    /// The median seconds of ten runs on one image, after two to warm up.
    private static func latency(
        _ checkpoint: Checkpoint, _ size: Int, threads: Int?
    ) throws -> Double {
        let program = try Model(checkpoint, execution: Execution(threads: threads)).program(
            height: size, width: size)
        let lightness = [Float](repeating: 50, count: size * size)
        return try measureSeconds(runs: 10, warmup: 2) {
            _ = try program.predict(lightness: lightness)
        }.median
    }
}
