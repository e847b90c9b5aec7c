public import RetintArchitectures
import RetintFiles
import RetintGraph
import RetintLayers
import RetintTensorFiles
import RetintTensors

extension Checkpoint {
    /// Creates a checkpoint from a PyTorch state dict in a PyTorch, safetensors or HDF5 file, or
    /// from the weights of another checkpoint.
    ///
    /// - Parameters:
    ///   - path: the file; tensors have their dotted PyTorch names, or are nested in HDF5 groups.
    ///     A prefix that all of the network's names have, such as `model.`, is left out.
    ///   - network: which network the weights are of.
    ///   - key: the key of the state dict in a PyTorch file that contains several.
    ///   - isStrict: whether the file must contain exactly the network's tensors. Otherwise
    ///     missing and mis-shaped ones get random initial values (seed 0), and unexpected ones are
    ///     dropped.
    /// - Returns: the checkpoint, and the differences between the file and the network.
    /// - Throws: `TensorFileError` if the file cannot be read; ``CheckpointError`` with the table
    ///   of differences if it does not match, is strict, or shares nothing with the network.
    public static func importing(
        weights path: some PathConvertible, of network: NetworkDescription, key: String? = nil,
        isStrict: Bool = true
    ) throws -> (checkpoint: Checkpoint, report: LoadReport) {
        let path = path.filePath.string
        let spec = StateSpec(of: try network.make())
        let found = try ModelFormat.weights(at: path, of: spec, key: key)
        let report = found.compare(expected: spec.expected(in: found))
        // A file without a single common tensor is for another architecture.
        guard report.isStrict || !isStrict && !found.isEmpty else {
            throw CheckpointError.mismatch(report, path: path, architecture: network.architecture)
        }
        return (Checkpoint(network, state: try found.adapted(to: spec, path: path)), report)
    }
}

extension Checkpoint {
    /// The first of some networks whose tensors a file has exactly, by names and shapes; nil if
    /// there is none. No tensor is read.
    ///
    /// - Parameters:
    ///   - path: a PyTorch, safetensors or HDF5 file.
    ///   - networks: in the order in which they are tried.
    ///   - key: the key of the state dict in a PyTorch file that contains several.
    /// - Throws: `TensorFileError` if the file cannot be read.
    public static func network(
        fitting path: some PathConvertible, among networks: [NetworkDescription],
        key: String? = nil
    ) throws -> NetworkDescription? {
        let found = try ModelFormat.weights(at: path.filePath.string, expecting: [:], key: key)
        return networks.first { network in
            // Not every network has all of the options.
            guard let spec = (try? network.make()).map({ StateSpec(of: $0) }) else { return false }
            let named = found.prefix(of: spec.weights).map { found.removing(prefix: $0) } ?? found
            return named.compare(expected: spec.expected(in: named)).isStrict
        }
    }
}

extension StateSpec {
    /// The names and shapes of the tensors that the network computes with.
    var weights: [(name: String, shape: Shape)] {
        entries.filter { $0.kind != .counter }.map { ($0.name, $0.shape) }
    }

    /// The tensors that a file should have. It may lack counters, as in PyTorch: files of old
    /// versions and those converted from other frameworks have none.
    func expected(in found: StateDict) -> [(name: String, shape: Shape)] {
        let names = Set(found.names).union(found.unread.keys)
        return entries.filter { $0.kind != .counter || names.contains($0.name) }
            .map { ($0.name, $0.shape) }
    }
}

extension StateDict {
    /// The tensors in the order of `spec`: weights as float32, counters as int64, initial values
    /// for missing ones.
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
    /// The tensor in the type of a network's entry: floats of a weight as float32, a counter as
    /// int64.
    func adapted(to entry: StateSpec.Entry, path: String) throws -> StoredTensor {
        switch (entry.kind, elements) {
        case (.counter, .int64): return self
        case (.counter, .float32(let values)):
            // Some exporters write all tensors as floats.
            guard let count = Int64(exactly: values[0]) else { break }
            return StoredTensor(integer: count)
        case (_, .float32(let values)): return StoredTensor(shape: shape, floats: values)
        case (_, .int64): break
        }
        let wanted = entry.kind == .counter ? "an integer" : "floating-point values"
        throw CheckpointError(
            .malformed, path: path,
            problem: "tensor \(entry.name) has type \(storedType) instead of \(wanted)")
    }
}

extension StateSpec.Entry {
    /// The initial values of seed 0.
    fileprivate var initialTensor: StoredTensor {
        guard kind != .counter else { return StoredTensor(integer: 0) }
        var random = RandomStream(seed: 0, name: name)
        return StoredTensor(initializer.values(shape, &random))
    }
}
