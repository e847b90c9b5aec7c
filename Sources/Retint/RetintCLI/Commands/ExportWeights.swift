import ArgumentParser
import Retint

/// `export` to a file of weights: the output ends in `.h5`, `.hdf5` or `.safetensors`.
struct ExportWeights: ParsableArguments {
    @Flag(
        help: .rare(
            """
            For weights of a package: if a batch normalization was folded into a convolution, \
            write the folded weights and an identity normalization.
            """))
    var allowFolded = false

    /// The names of the options that were given.
    var given: [String] { RetintCLI.given(["--allow-folded": allowFolded]) }

    /// Writes the weights of a checkpoint or of a package as a state dict.
    func run(_ model: String, to output: String) throws {
        if try ModelFormat(ofModelAt: model).isFor(.packages) {
            try write(
                RecoveredWeights(ofPackageAt: model, allowsFolded: allowFolded), to: output)
        } else {
            let checkpoint = try Checkpoint(contentsOf: model)
            let weights = try checkpoint.moduleWeights()
            try weights.state.write(to: output)
            report(output, weights.state, of: checkpoint.network)
            for note in weights.notes { Console.warn(note) }
        }
    }

    private func write(_ weights: RecoveredWeights, to output: String) throws {
        try weights.state.write(to: output)
        report(output, weights.state, of: weights.network)
        for line in weights.lines { Console.print(line) }
        for warning in weights.warnings { Console.warn(warning) }
    }

    private func report(_ output: String, _ state: StateDict, of network: NetworkDescription?) {
        let values = state.reduce(0) { $0 + $1.tensor.shape.count }
        let parts =
            (network.map { ["\($0)"] } ?? []) + [
                "\(Format.grouped(state.count)) tensors", "\(Format.grouped(values)) values",
            ]
        Console.print("\(output): \(parts.joined(separator: ", "))")
    }
}

extension RecoveredWeights {
    /// Where the weights come from.
    fileprivate var lines: [String] {
        guard network != nil else {
            return ["names are those of the package, because retint did not write it"] + unpacking
        }
        let proof = isBitEqual ? ["bit-equal to the checkpoint that was exported"] : []
        let hasCounters = state.contains { $0.tensor.integers != nil }
        let counters =
            hasCounters ? ["num_batches_tracked is 0: packages do not contain it"] : []
        return proof + unpacking + counters
    }

    private var unpacking: [String] {
        guard !isSinglePrecision else { return [] }
        let forms = storage.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value) tensors)" }
        return ["unpacked to float32 from \(forms.joined(separator: ", "))"]
    }

    fileprivate var warnings: [String] {
        var warnings: [String] = []
        if !absent.isEmpty {
            warnings.append(
                "the package does not contain \(absent.joined(separator: ", ")), which inference "
                    + "does not need; load the rest with strict=False")
        }
        if !unfolded.isEmpty {
            warnings.append(
                "\(unfolded.count) batch normalizations are identities: they are folded into the "
                    + "preceding convolutions")
        }
        return warnings
    }
}
