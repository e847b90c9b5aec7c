import Retint

extension BenchmarkReport.Operation {
    /// The titles of the columns.
    static let header = ["operation", "steps", "ms", "share", "GFLOP/s", "GB/s"]

    /// A row.
    var cells: [String] {
        [
            name, "\(count)", Format.fixed(seconds * 1e3, 3), Format.percent(share),
            gflops > 0 ? Format.fixed(gflops, 1) : "", Format.fixed(gigabytesPerSecond, 1),
        ]
    }
}

extension BenchmarkReport.Step {
    /// The titles of the columns.
    static let header = ["step", "module", "shape", "ms", "share", "GFLOP/s", "GB/s"]

    /// A row.
    var cells: [String] {
        [
            name, module, shape.map(String.init).joined(separator: "×"),
            Format.fixed(seconds * 1e3, 3), Format.percent(share),
            gflops > 0 ? Format.fixed(gflops, 1) : "", Format.fixed(gigabytesPerSecond, 1),
        ]
    }
}

extension TextTable {
    init(operations: [BenchmarkReport.Operation]) {
        self.init(
            header: BenchmarkReport.Operation.header, operations.map(\.cells),
            rightAligned: [1, 2, 3, 4, 5])
    }

    init(steps: [BenchmarkReport.Step]) {
        self.init(
            header: BenchmarkReport.Step.header, steps.map(\.cells), rightAligned: [3, 4, 5, 6])
    }
}

extension Format {
    /// 0.123 → 12.3 %.
    static func percent(_ share: Double) -> String { "\(fixed(100 * share, 1)) %" }
}
