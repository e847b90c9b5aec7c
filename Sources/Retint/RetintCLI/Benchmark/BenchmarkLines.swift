import Retint

extension BenchmarkReport {
    /// The report as text.
    var lines: [String] {
        var lines = [
            "\(model): \(mode), batch \(batch), \(size), \(processors), products in \(arithmetic)",
            "median \(Format.duration(medianSeconds)) of \(runs) runs, "
                + "fastest \(Format.duration(fastestSeconds)); "
                + "\(Format.fixed(imagesPerSecond, 1)) images/s",
            "\(Format.fixed(gflops, 1)) GFLOP/s\(comparison)",
            memory,
        ]
        lines += ranks?.lines ?? []
        lines += threadPredictions.map { TextTable(predictions: $0).lines } ?? []
        if steps != nil, let widest = threadPredictions?.max(by: { $0.threads < $1.threads }) {
            lines += TextTable(steps: widest).lines
        }
        return lines + (operationTable?.lines ?? []) + (stepTable?.lines ?? [])
    }

    /// What computed: the CPU in reports that do not say it.
    private var computer: Execution.Device { device.flatMap(Execution.Device.init) ?? .cpu }

    private var processors: String {
        computer == .cpu ? "\(threads) threads" : "on \(computer.rawValue)"
    }

    /// With what the machine can do.
    private var comparison: String {
        guard let sgemmGflops, let sgemmShare, let copyGigabytesPerSecond else { return "" }
        let surplus =
            sgemmShare > 1.05
            ? " (above 100 %: convolutions saved multiplications, or other work ran meanwhile)"
            : ""
        return ", \(Format.fixed(100 * sgemmShare, 0)) % of the "
            + "\(Format.fixed(sgemmGflops, 1)) GFLOP/s of matrix products "
            + "(by \(sgemmKernels ?? "retint"), OpenBLAS core \(blasCore ?? "unknown"))\(surplus); "
            + "copies run at \(Format.fixed(copyGigabytesPerSecond, 1)) GB/s"
    }

    private var memory: String {
        let arena = Format.bytes(arenaBytes)
        if case .cuda = computer {
            return "memory of the GPU: \(arena) of intermediate results, and "
                + "\(Format.bytes(weightBytes)) of weights and state"
        }
        let peak = peakBytes.map { "peak memory \(Format.bytes($0)), " } ?? ""
        return "\(peak)of which intermediate results \(arena)"
    }

    /// That of the images, or the shapes of all inputs.
    private var size: String {
        if let width, let height { return "\(width) × \(height)" }
        return inputs.sorted { $0.key < $1.key }.map { "\($0.key) \(Shape($0.value))" }
            .joined(separator: ", ")
    }

    private var operationTable: TextTable? {
        operations.map { TextTable(operations: $0) }
    }

    private var stepTable: TextTable? { steps.map { TextTable(steps: $0) } }
}
