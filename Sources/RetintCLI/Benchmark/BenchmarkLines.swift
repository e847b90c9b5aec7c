import Retint

extension BenchmarkReport {
    /// The report as text.
    var lines: [String] {
        var lines = [
            "\(model): \(mode), batch \(batch), \(width) × \(height), \(threads) threads",
            "median \(Format.duration(medianSeconds)) of \(runs) runs, "
                + "fastest \(Format.duration(fastestSeconds)); "
                + "\(Format.fixed(imagesPerSecond, 1)) images/s",
            "\(Format.fixed(gflops, 1)) GFLOP/s, \(Format.fixed(100 * sgemmShare, 0)) % of the "
                + "\(Format.fixed(sgemmGflops, 1)) GFLOP/s of matrix products "
                + "(OpenBLAS core \(blasCore)); copies run at "
                + "\(Format.fixed(copyGigabytesPerSecond, 1)) GB/s",
        ]
        let peak = peakBytes.map { "peak memory \(Format.bytes($0)), " } ?? ""
        lines.append("\(peak)of which intermediate results \(Format.bytes(arenaBytes))")
        return lines + (operationTable?.lines ?? []) + (stepTable?.lines ?? [])
    }

    private var operationTable: TextTable? {
        guard let operations else { return nil }
        let total = operations.reduce(0) { $0 + $1.seconds }
        var table = TextTable(
            header: ["operation", "steps", "ms", "share", "GFLOP/s", "GB/s"],
            rightAligned: [1, 2, 3, 4, 5])
        for operation in operations {
            table.append([
                operation.name, "\(operation.count)", Format.fixed(operation.seconds * 1e3, 3),
                "\(Format.fixed(100 * operation.seconds / total, 1)) %",
                operation.gflops > 0 ? Format.fixed(operation.gflops, 1) : "",
                Format.fixed(operation.gigabytesPerSecond, 1),
            ])
        }
        return table
    }

    private var stepTable: TextTable? {
        guard let steps else { return nil }
        var table = TextTable(
            header: ["step", "module", "shape", "ms", "GFLOP/s", "GB/s"], rightAligned: [3, 4, 5])
        for step in steps {
            table.append([
                step.name, step.module, step.shape.map(String.init).joined(separator: "×"),
                Format.fixed(step.seconds * 1e3, 3),
                step.gflops > 0 ? Format.fixed(step.gflops, 1) : "",
                Format.fixed(step.gigabytesPerSecond, 1),
            ])
        }
        return table
    }
}
