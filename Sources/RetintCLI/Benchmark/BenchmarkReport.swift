import Retint

/// What `benchmark` measured.
struct BenchmarkReport: Encodable {
    struct Operation: Encodable {
        let name: String
        /// How many steps of the program are of this kind.
        let count: Int
        let seconds: Double
        /// Zero for what has no multiply-adds.
        let gflops: Double
        /// Each operand and result once, as if nothing stayed in a cache.
        let gigabytesPerSecond: Double
    }

    struct Step: Encodable {
        let name: String
        let module: String
        let shape: [Int]
        let seconds: Double
        let gflops: Double
        let gigabytesPerSecond: Double
    }

    let model: String
    let mode: String
    let batch: Int
    let height: Int
    let width: Int
    let threads: Int
    let runs: Int
    let medianSeconds: Double
    let fastestSeconds: Double
    let imagesPerSecond: Double
    /// Two floating-point operations for each multiply-add of the plain algorithms; fast ones, such
    /// as Winograd's, do fewer and may pass what the machine does on matrix products.
    let gflops: Double
    let sgemmGflops: Double
    let sgemmShare: Double
    let copyGigabytesPerSecond: Double
    let peakBytes: Int?
    let arenaBytes: Int
    let blasCore: String
    let operations: [Operation]?
    let steps: [Step]?

    /// For people, one line each.
    var lines: [String] {
        var lines = [
            "\(model): \(mode), batch \(batch), \(width) × \(height), \(threads) threads",
            "median \(Format.duration(medianSeconds)) of \(runs) runs, "
                + "fastest \(Format.duration(fastestSeconds)); "
                + "\(Format.fixed(imagesPerSecond, 1)) images/s",
            "\(Format.fixed(gflops, 1)) GFLOP/s, \(Format.fixed(100 * sgemmShare, 0)) % of the "
                + "\(Format.fixed(sgemmGflops, 1)) that matrix products reach here "
                + "(OpenBLAS core \(blasCore)); copies reach "
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

extension BenchmarkReport.Operation {
    /// Adds up the steps of each kind, the costliest kind first.
    static func summary(of steps: [StepProfile]) -> [Self] {
        Dictionary(grouping: steps, by: \.name).map { name, steps in
            let seconds = steps.reduce(0) { $0 + $1.seconds }
            let products = Double(steps.reduce(0) { $0 + $1.multiplyAdds })
            let bytes = Double(steps.reduce(0) { $0 + $1.bytes })
            return Self(
                name: name, count: steps.count, seconds: seconds,
                gflops: seconds > 0 ? 2e-9 * products / seconds : 0,
                gigabytesPerSecond: seconds > 0 ? 1e-9 * bytes / seconds : 0)
        }.sorted { ($0.seconds, $1.name) > ($1.seconds, $0.name) }
    }
}

extension BenchmarkReport.Step {
    init(_ step: StepProfile) {
        (name, module, shape) = (step.name, step.module, step.shape.dimensions)
        seconds = step.seconds
        gflops = seconds > 0 ? 2e-9 * Double(step.multiplyAdds) / seconds : 0
        gigabytesPerSecond = seconds > 0 ? 1e-9 * Double(step.bytes) / seconds : 0
    }
}
