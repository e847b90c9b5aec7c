import ArgumentParser
import Retint

/// The way back: `export` with an output that ends in `.h5`, `.hdf5` or `.safetensors`.
struct ExportWeights: ParsableArguments {
    @Flag(
        help: """
            For weights out of a package: where a batch normalization is folded into a \
            convolution, write the folded weights, and a normalization that does nothing.
            """)
    var allowFolded = false

    /// Whether `output` is a file of weights by its name.
    static func isAsked(by output: String) -> Bool {
        TensorFileFormat(extensionOf: output) != nil
    }

    /// Throws unless the name of the output says what to write.
    func check(output: String) throws {
        let isWeights = Self.isAsked(by: output)
        guard isWeights || output.hasSuffix(".mlpackage") else {
            throw ValidationError(
                "\(output): the name says what is written; let it end in .mlpackage for Core ML, "
                    + "in .h5 or .safetensors for PyTorch")
        }
        guard isWeights || !allowFolded else {
            throw ValidationError("--allow-folded goes with weights (.h5, .safetensors)")
        }
    }

    /// Writes the weights of a checkpoint or of a package as a state dict.
    ///
    /// - Parameter options: what was said about a package, where one could be written; nil if its
    ///   precision was chosen.
    func run(_ model: String, to output: String, _ options: ExportOptions?) throws {
        guard options == ExportOptions() else {
            throw CommandError(
                .wrongUsage,
                "\(output): weights are written as they are; precision, target, sizes, interface "
                    + "and metadata are those of a package")
        }
        if try isDirectory(model) {
            try write(
                recoverWeights(ofPackageAt: model, allowsFolded: allowFolded), to: output)
        } else {
            try refuseOverwriting(Set([model].compactMap(FileIdentity.init(of:))), with: output)
            let checkpoint = try Checkpoint(contentsOf: model)
            try checkpoint.state.write(to: output)
            say(output, checkpoint.state, of: checkpoint.architecture, checkpoint.options)
        }
    }

    private func write(_ weights: RecoveredWeights, to output: String) throws {
        try weights.state.write(to: output)
        say(output, weights.state, of: weights.architecture, weights.options)
        for line in weights.lines { Console.print(line) }
        for warning in weights.warnings { Console.warn(warning) }
    }

    private func say(
        _ output: String, _ state: StateDict, of architecture: String?,
        _ options: [String: String]
    ) {
        let choices = options.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let numbers = state.reduce(0) { $0 + $1.tensor.shape.count }
        let parts =
            [architecture].compactMap { $0 } + choices + [
                "\(Format.grouped(state.count)) tensors", "\(Format.grouped(numbers)) numbers",
            ]
        Console.print("\(output): \(parts.joined(separator: ", "))")
    }
}

extension RecoveredWeights {
    /// Where the numbers come from.
    fileprivate var lines: [String] {
        guard architecture != nil else {
            return ["names are the package's own: it was not made by retint"] + unpacking
        }
        let proof = isBitEqual ? ["bit-equal to the checkpoint that the package was made of"] : []
        let hasCounters = state.contains { $0.tensor.integers != nil }
        let counters =
            hasCounters ? ["num_batches_tracked is 0 everywhere: a package does not hold it"] : []
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
                "the package does not hold \(absent.joined(separator: ", ")), which colors do not "
                    + "need; load the rest with strict=False")
        }
        if !unfolded.isEmpty {
            warnings.append(
                "\(unfolded.count) batch normalizations do nothing: their numbers are in the "
                    + "convolutions in front of them")
        }
        return warnings
    }
}

extension ExportPrecisionOptions {
    /// Whether nothing was said of a package's precision.
    var isDefault: Bool { precision == .float32 && !clamps }
}
