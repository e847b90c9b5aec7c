import Files
import Foundation
import ImageIO
import Retint

/// One line of `metrics.jsonl`; which numbers there are depends on `kind`.
package struct MetricsRecord: Hashable, Sendable, Codable {
    /// `train` or `validation`.
    package var kind: String
    /// Steps done.
    package var step: Int
    package var epoch: Int
    /// Of training, over the steps since the last record.
    package var loss: Double?
    package var learningRate, gradientNorm, imagesPerSecond: Double?
    /// The share of the time in which the step waited for its batch.
    package var waitingShare: Double?
    /// Steps since the last record that changed nothing, because their numbers were not finite.
    package var skippedSteps: Int?
    package var validation: ValidationMetrics?

    enum CodingKeys: String, CodingKey {
        case kind, step, epoch, loss, validation
        case learningRate = "learning_rate"
        case gradientNorm = "gradient_norm"
        case imagesPerSecond = "images_per_second"
        case waitingShare = "waiting_share"
        case skippedSteps = "skipped_steps"
    }
}

/// Who is told how a training goes.
protocol MetricsSink {
    func append(_ record: MetricsRecord) throws
    /// What the network makes of some photos, and its weights, after so many steps.
    func append(_ samples: [Sample], weights: [String: [Float]], step: Int) throws
}

extension MetricsSink {
    func append(_ samples: [Sample], weights: [String: [Float]], step: Int) throws {}
}

/// A photo and what the network makes of its lightness.
struct Sample {
    let photo: Image
    let estimate: Image

    /// Gray, the network's and the photo itself, side by side.
    var strip: Image {
        Image.sideBySide([photo.gray, estimate, photo], gap: 2)
    }
}

/// A file of records, one JSON object a line, each on its way to the disk at once.
final class MetricsLog: MetricsSink {
    private let handle: FileHandle
    private let encoder = JSONEncoder()

    /// - Parameter step: what a run that was cut off wrote beyond this step is taken out, as it
    ///   is going to be written again.
    init(_ path: String, resumingAt step: Int) throws {
        encoder.outputFormatting = [.sortedKeys]
        var kept: [UInt8] = []
        if step > 0, access(path, F_OK) == 0 {
            for line in try readFile(path).split(separator: UInt8(ascii: "\n")) {
                let record = try? JSONDecoder().decode(MetricsRecord.self, from: Data(line))
                if let record, record.step <= step { kept += line + [UInt8(ascii: "\n")] }
            }
        }
        try AtomicFile.write(kept, to: path)
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw FileError(path: path, operation: "write")
        }
        self.handle = handle
        try handle.seekToEnd()
    }

    func append(_ record: MetricsRecord) throws {
        try handle.write(contentsOf: try encoder.encode(record) + Data("\n".utf8))
    }
}
