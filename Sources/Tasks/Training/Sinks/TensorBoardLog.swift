import Foundation
import RetintImages
import RetintTensorBoardProto

/// Writes scalars, sample images and histograms of weights for TensorBoard.
final class TensorBoardLog: MetricsSink {
    private let file: EventFile

    /// Creates an event file in the run's folder.
    ///
    /// - Parameter step: the step to resume after; TensorBoard drops later steps of earlier files.
    init(folder: String, resumingAt step: Int) throws {
        let time = Date().timeIntervalSince1970
        let host = ProcessInfo.processInfo.hostName
        let process = ProcessInfo.processInfo.processIdentifier
        let stamp = String(format: "%.6f", time)
        file = try EventFile("\(folder)/events.out.tfevents.\(stamp).\(host).\(process)")
        guard step > 0 else { return }
        var event = Tensorboard_Event()
        event.step = Int64(step + 1)
        event.sessionLog.status = .start
        try file.append(event)
    }

    func append(_ record: MetricsRecord) throws {
        try append(
            record.scalars.map { tag, scalar in
                var value = Tensorboard_Summary.Value()
                value.tag = tag
                value.simpleValue = Float(scalar)
                return value
            }, step: record.step)
    }

    func append(_ samples: [ValidationSample], weights: [String: [Float]], step: Int) throws {
        let images = try samples.enumerated().map { index, sample in
            try Self.image("samples/\(index)", sample.strip)
        }
        let histograms = weights.sorted { $0.key < $1.key }.map { name, values in
            var value = Tensorboard_Summary.Value()
            value.tag = "weights/\(name)"
            value.histo = Tensorboard_HistogramProto(values)
            return value
        }
        try append(images + histograms, step: step)
    }

    private func append(_ values: [Tensorboard_Summary.Value], step: Int) throws {
        guard !values.isEmpty else { return }
        var event = Tensorboard_Event()
        event.step = Int64(step)
        event.summary.value = values
        try file.append(event)
    }

    private static func image(
        _ tag: String, _ image: Image
    ) throws -> Tensorboard_Summary.Value {
        var value = Tensorboard_Summary.Value()
        value.tag = tag
        value.image.height = Int32(image.height)
        value.image.width = Int32(image.width)
        value.image.colorspace = 3
        value.image.encodedImageString = Data(try image.encode(.png()))
        return value
    }
}

extension MetricsRecord {
    /// The record's values with their TensorBoard tags.
    var scalars: [(tag: String, value: Double)] {
        let values: [(String, Double?)] = [
            ("loss/train", loss), ("train/learning_rate", learningRate),
            ("train/gradient_norm", gradientNorm), ("train/images_per_second", imagesPerSecond),
            ("train/waiting_share", waitingShare), ("loss/validation", validation?.loss),
            ("validation/psnr_db", validation?.psnr),
            ("validation/delta_e2000", validation?.deltaE2000),
            ("validation/colorfulness", validation?.colorfulness),
        ]
        let shares = (communicationShares ?? []).enumerated().map { rank, share in
            ("train/communication_share/rank\(rank)", share)
        }
        return values.compactMap { tag, value in value.map { (tag, $0) } } + shares
    }
}

extension Tensorboard_HistogramProto {
    /// The distribution of finite values in buckets whose limits grow by 10 % (TensorFlow's
    /// `histogram.cc`), without the empty ones at both ends.
    init(_ values: [Float]) {
        self.init()
        min = values.min().map(Double.init) ?? 0
        max = values.max().map(Double.init) ?? 0
        num = Double(values.count)
        sum = values.reduce(0) { $0 + Double($1) }
        sumSquares = values.reduce(0) { $0 + Double($1) * Double($1) }
        var counts = [Double](repeating: 0, count: Self.limits.count)
        for value in values { counts[Self.bucket(of: Double(value))] += 1 }
        guard let first = counts.firstIndex(where: { $0 > 0 }),
            let last = counts.lastIndex(where: { $0 > 0 })
        else { return }
        bucketLimit = Array(Self.limits[first...last])
        bucket = Array(counts[first...last])
    }

    /// The first bucket whose limit is above a value.
    private static func bucket(of value: Double) -> Int {
        var (low, high) = (0, limits.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if limits[middle] > value { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private static let limits: [Double] = {
        var positive: [Double] = []
        var limit = 1e-12
        while limit < 1e20 {
            positive.append(limit)
            limit *= 1.1
        }
        return positive.reversed().map { -$0 } + [0] + positive + [.greatestFiniteMagnitude]
    }()
}
