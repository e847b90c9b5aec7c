import Foundation
import RetintFiles

/// A measurement of several ranks written by `retint benchmark --json`.
public struct SavedBenchmark: Decodable, Sendable {
    /// The name of the measured model.
    public let model: String
    /// The measured step.
    public let ranks: BenchmarkReport.RankReport

    private static let maximumBytes = 64 << 20

    /// Reads a report.
    ///
    /// - Throws: `FileError` if it cannot be read; ``BenchmarkError`` if it is not a report of
    ///   several ranks, or has a value out of range.
    public init(contentsOf path: some PathConvertible) throws {
        let bytes = try RegularFile(path).contents(maximumBytes: Self.maximumBytes)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let name = path.filePath.string
        do {
            self = try decoder.decode(Self.self, from: Data(bytes))
        } catch {
            throw BenchmarkError(
                .measurements,
                file: name,
                "does not report a training step of several ranks; write one with mpirun "
                    + "-n 2 retint benchmark NETWORK --mode training --json > \(name)")
        }
        if let (key, range) = ranks.valueOutOfRange {
            throw BenchmarkError(
                .measurements,
                file: name,
                "\(key): must be from \(range.lowerBound) to \(range.upperBound); "
                    + "measure again")
        }
    }
}

extension BenchmarkReport.RankReport {
    private static let seconds = 0.0...1e6
    private static let bytes = 1.0...1e15

    /// The first key with an impossible value, and its allowed range.
    fileprivate var valueOutOfRange: (key: String, range: ClosedRange<Double>)? {
        let fixed: [(String, Double, ClosedRange<Double>)] = [
            (
                "ranks", Double(ranks),
                2...Double(BenchmarkReport.StepPrediction.rankRange.upperBound)
            ),
            ("buckets", Double(timeline.buckets.count), 1...65_536),
            ("batch", Double(batch), Double(max(ranks, 1))...1e9),
            ("backward_seconds", timeline.backwardSeconds, 1e-9...1e6),
            ("update_seconds", timeline.updateSeconds, Self.seconds),
            ("one_image_seconds", oneImageSeconds, Self.seconds),
            ("latency_seconds", link.latencySeconds, Self.seconds),
            ("bytes_per_second", link.bytesPerSecond, Self.bytes),
            ("message_seconds", link.messageSeconds, Self.seconds),
            ("sum_seconds_per_byte", link.sumSecondsPerByte, Self.seconds),
            ("lost_seconds_per_byte", link.lostSecondsPerByte, Self.seconds),
        ]
        let buckets = timeline.buckets.flatMap { bucket in
            [
                ("buckets.bytes", Double(bucket.bytes), Self.bytes),
                ("buckets.ready_seconds", bucket.readySeconds, Self.seconds),
            ]
        }
        return (fixed + buckets).first { !$2.contains($1) }.map { ($0.0, $0.2) }
    }
}
