import Foundation
import RetintFiles
import RetintImages
import RetintPhotoData

/// A destination for the metrics of a training run.
protocol MetricsSink {
    func append(_ record: MetricsRecord) throws
    /// Adds the results of a validation.
    ///
    /// - Parameter weights: the trained parameters by name.
    func append(_ samples: [ValidationSample], weights: [String: [Float]], step: Int) throws
}

extension MetricsSink {
    func append(_ samples: [ValidationSample], weights: [String: [Float]], step: Int) throws {}
}

/// A validation photo and the network's colors for it.
struct ValidationSample {
    let photo: Image
    let estimate: Image

    /// Gray input, estimate and photo, side by side.
    var strip: Image {
        Image.sideBySide([photo.gray, estimate, photo], gap: 2)
    }
}

/// `metrics.jsonl`: one record per line, each written immediately.
final class MetricsLog: MetricsSink {
    private let file: FileWriter
    /// A record has a few hundred bytes: a million of them.
    private static let maximumBytes = 1 << 28
    private let encoder = JSONEncoder()

    /// - Parameter step: records after this step, from an interrupted run, are removed: these
    ///   steps are trained again.
    init(_ path: String, resumingAt step: Int) throws {
        encoder.outputFormatting = [.sortedKeys]
        var kept: [UInt8] = []
        if step > 0, access(path, F_OK) == 0 {
            for line in try readFile(path, maximumBytes: Self.maximumBytes).split(
                separator: UInt8(ascii: "\n"))
            {
                let record = try? JSONDecoder().decode(MetricsRecord.self, from: Data(line))
                if let record, record.step <= step { kept += line + [UInt8(ascii: "\n")] }
            }
        }
        try AtomicFile.write(kept, to: path)
        file = try FileWriter(appendingTo: path)
    }

    func append(_ record: MetricsRecord) throws {
        try file.write([UInt8](try encoder.encode(record)) + [UInt8(ascii: "\n")])
    }
}
