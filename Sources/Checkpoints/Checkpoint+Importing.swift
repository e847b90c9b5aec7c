import Layers
import TensorFiles
import TensorGraph

extension Checkpoint {
    /// Makes a checkpoint of a PyTorch state dict in an HDF5 or a safetensors file, or of the
    /// weights of another checkpoint.
    ///
    /// - Parameters:
    ///   - path: the file; tensors are named by the dotted PyTorch name, or nested in HDF5
    ///     groups.
    ///   - architecture: a name in the registry.
    ///   - options: what the checkpoint's ``options`` will be.
    ///   - isStrict: whether the file must hold just the tensors of the architecture. Otherwise
    ///     what is missing or mis-shaped starts from fresh random values (seed 0), and what is
    ///     unexpected is left out.
    /// - Returns: the checkpoint, and how the file compares with the architecture.
    /// - Throws: `TensorFileError` if the file cannot be read; ``CheckpointError`` with the table
    ///   of differences if it does not match, is strict, or shares nothing with the architecture.
    public static func importing(
        weights path: String, architecture: String, options: [String: String] = [:],
        isStrict: Bool = true
    ) throws -> (checkpoint: Checkpoint, report: LoadReport) {
        var checkpoint = Checkpoint(
            architecture: architecture, options: options, state: StateDict())
        let spec = StateSpec(of: try checkpoint.makeColorizer())
        let expected = spec.entries.map { ($0.name, $0.shape) }
        var found = try StateDict(
            contentsOf: path, expecting: Dictionary(uniqueKeysWithValues: expected))
        // What a training would go on with is not the network's.
        if isCheckpoint(path) { found.removeAll(withPrefix: CheckpointFormat.optimizerPrefix) }
        let report = found.compare(expected: expected)
        // A file without a single tensor in common was not meant for this architecture.
        guard report.isStrict || !isStrict && !found.isEmpty else {
            throw CheckpointError.mismatch(report, path: path, architecture: architecture)
        }
        checkpoint.state = try found.adapted(to: spec, path: path)
        return (checkpoint, report)
    }
}

extension StateDict {
    /// The tensors in the order of `spec`: weights as float32, counters as int64, fresh values
    /// where there is no tensor of the name.
    func adapted(to spec: StateSpec, path: String) throws -> StateDict {
        var result = StateDict()
        for entry in spec.entries {
            if let tensor = self[entry.name] {
                result[entry.name] = try tensor.adapted(to: entry, path: path)
            } else {
                result[entry.name] = entry.initialTensor
            }
        }
        return result
    }
}

extension StoredTensor {
    fileprivate func adapted(to entry: StateSpec.Entry, path: String) throws -> StoredTensor {
        switch (entry.kind, elements) {
        case (.counter, .int64): return self
        case (.counter, .float32(let values)):
            // Some exporters write all tensors as floats.
            guard let count = Int64(exactly: values[0]) else { break }
            return StoredTensor(integer: count)
        case (_, .float32(let values)): return StoredTensor(shape: shape, floats: values)
        case (_, .int64): break
        }
        let wanted = entry.kind == .counter ? "an integer" : "floating-point numbers"
        throw CheckpointError(
            .malformed, path: path,
            problem: "tensor \(entry.name) holds \(storedType) where \(wanted) belong")
    }
}

extension StateSpec.Entry {
    /// What training would start from with seed 0.
    fileprivate var initialTensor: StoredTensor {
        guard kind != .counter else { return StoredTensor(integer: 0) }
        var random = RandomStream(seed: 0, name: name)
        return StoredTensor(initializer.values(shape, &random))
    }
}
