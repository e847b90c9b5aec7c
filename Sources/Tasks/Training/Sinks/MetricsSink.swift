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
    private static let (maximumBytes, maximumLines) = (1 << 28, 1 << 20)
    private let encoder = JSONEncoder()

    /// - Parameter step: records after this step, from an interrupted run, are removed: these
    ///   steps are trained again.
    init(_ path: String, resumingAt step: Int) throws {
        encoder.outputFormatting = [.sortedKeys]
        var kept: [UInt8] = []
        if step > 0, access(path, F_OK) == 0 {
            kept = try Self.lines(of: path, upTo: step)
        }
        try AtomicFile.write(kept, to: path)
        file = try FileWriter(appendingTo: path)
    }

    /// The lines of records up to a step.
    ///
    /// - Throws: `FileError` if the file cannot be read, or is larger than that of any run.
    private static func lines(of path: String, upTo step: Int) throws -> [UInt8] {
        let end = UInt8(ascii: "\n")
        let lines = try readFile(path, maximumBytes: maximumBytes)
            .split(separator: end, maxSplits: maximumLines)
        guard lines.count <= maximumLines else {
            throw FileError(
                path: path, operation: "read", reason: "it has over \(maximumLines) lines",
                remedy: "move it to another folder")
        }
        let decoder = JSONDecoder()
        var kept: [UInt8] = []
        for line in lines {
            let record = try? decoder.decode(MetricsRecord.self, from: Data(line))
            if let record, record.step <= step { kept += line + [end] }
        }
        return kept
    }

    func append(_ record: MetricsRecord) throws {
        // Half of a line would spoil the next one.
        try file.append([UInt8](try encoder.encode(record)) + [UInt8(ascii: "\n")])
    }
}
