import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintExport
import RetintGraph
import RetintTensors

extension Checkpoint {
    /// Runs an imported network once on a test pattern, and says where its results look like those
    /// of another range than the one that was stated.
    ///
    /// A network that returns a/110 and b/110 leaves photos gray if it is taken for one that
    /// returns a and b.
    ///
    /// - Returns: a sentence; nil if nothing is doubtful, and for a network that was not imported.
    /// - Throws: `ONNXError` or `GraphError` if the network does not run.
    public func rangeNote() throws -> String? {
        guard let definition = network.definition else { return nil }
        let (height, width) = (definition.trialSize.height, definition.trialSize.width)
        let graph = Graph(mode: .inference)
        let lightness = graph.input("lightness", [1, 1, height, width])
        let raw = try definition.results(of: definition.form.networkInput(lightness))
        let program = try Program(outputs: [("raw", raw)], options: CompileOptions())
        try program.load(variables)
        let pattern = TensorData(
            shape: lightness.shape,
            scalars: (0..<height * width).map { index in
                // Stripes, and a ramp from top to bottom.
                let (row, column) = (index / width, index % width)
                return 20 + 60 * Float(row) / Float(height) + Float(column / 8 % 2) * 15
            })
        let values = try program.run(["lightness": pattern])["raw"]?.scalars ?? []
        // L of Lab is not used.
        let isLab = definition.form.colors == .lab
        return definition.form.doubt(Array(values.dropFirst(isLab ? height * width : 0)))
    }
}

extension ColorForm {
    /// Why results look like those of another range; nil if they do not.
    fileprivate func doubt(_ values: [Float]) -> String? {
        guard values.allSatisfy(\.isFinite), let low = values.min(), let high = values.max() else {
            return "its results on a test pattern are not finite"
        }
        guard case .linear(let first, let last) = colorRange else { return nil }
        let (lower, upper) = (min(first, last), max(abs(first), abs(last)))
        let extent = max(abs(low), abs(high))
        let found = "on a test pattern, its results are from \(text(low)) to \(text(high))"
        func other(_ range: String) -> String {
            "\(found); if they are in \(range), state --color-range \(range)"
        }
        switch colors {
        case .rgb:
            if upper <= 1, high > 4 { return other("0..255") }
            if lower >= 0, low < -0.3 { return other("-1..1") }
            if upper > 4, high <= 1 { return other(low < -0.3 ? "-1..1" : "0..1") }
        case .ab, .lab:
            if upper > 4, extent <= 1 { return other("-1..1") }
            if upper <= 1, extent > 4 { return other("-110..110") }
            if upper > 4, extent > 3 * upper { return "\(found), beyond any a and b" }
        }
        return nil
    }

    private func text(_ value: Float) -> String { "\((value * 1000).rounded() / 1000)" }
}
