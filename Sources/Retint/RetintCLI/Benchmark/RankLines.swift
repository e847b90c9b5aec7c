import Retint

extension BenchmarkReport.RankReport {
    /// The report as text.
    var lines: [String] {
        let predicted = ownPrediction
        return [
            "\(ranks) ranks: \(step.text), predicted \(predicted.step.text)",
            "sums sent after the backward pass: \(stepWithoutOverlap.text), predicted "
                + predicted.stepWithoutOverlap.text,
            "without messages, the backward pass ends after "
                + "\(Format.duration(timeline.backwardSeconds)), with one image per rank "
                + "after \(Format.duration(oneImageSeconds)); the update takes "
                + Format.duration(timeline.updateSeconds),
            "messages: latency \(Format.duration(link.latencySeconds)), "
                + "\(Format.fixed(link.bytesPerSecond * 8e-9, 2)) Gb/s each way, a message "
                + "\(Format.duration(link.messageSeconds)); for each byte, a sum takes "
                + "\(Format.fixed(link.sumSecondsPerByte * 1e9, 3)) ns, and computation loses "
                + "\(Format.fixed(link.lostSecondsPerByte * 1e9, 3)) ns",
        ] + bucketTable.lines + sumTable.lines
    }

    private var bucketTable: TextTable {
        TextTable(
            header: ["bucket", "size", "ready after"],
            timeline.buckets.enumerated().map { index, bucket in
                [
                    "\(index + 1)", Format.bytes(bucket.bytes),
                    Format.duration(bucket.readySeconds),
                ]
            }, rightAligned: [0, 1, 2])
    }

    private var sumTable: TextTable {
        TextTable(
            header: ["sum of", "takes", "predicted"],
            sums.map { sum in
                [
                    Format.bytes(sum.bytes), Format.duration(sum.seconds),
                    Format.duration(link.sumSeconds(sum.bytes, ranks: ranks)),
                ]
            }, rightAligned: [0, 1, 2])
    }
}

extension BenchmarkReport.RankReport.Step {
    fileprivate var text: String {
        "\(Format.duration(seconds)), of which \(Format.duration(waitedSeconds)) waiting"
    }
}
