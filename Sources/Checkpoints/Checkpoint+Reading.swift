import Layers
import TensorFiles
import TensorGraph

extension Checkpoint {
    /// Reads a checkpoint, and checks every tensor against the architecture before it is read.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``CheckpointError`` if it is not
    ///   a checkpoint or its tensors are not those of its architecture.
    public init(contentsOf path: String) throws {
        let reader = try HDF5Reader(path: path)
        try self.init(attributes: reader.attributes(), path: path)
        let spec = StateSpec(of: try makeColorizer(in: path))
        var expected = Dictionary(
            uniqueKeysWithValues: spec.entries.map { ($0.name, $0.shape) })
        let optimizerShapes = try Self.optimizerShapes(in: reader, weights: expected)
        expected.merge(optimizerShapes) { weight, _ in weight }
        var found = try StateDict(from: reader, expecting: expected)
        optimizer = found.extractOptimizer()
        let report = found.compare(expected: spec.entries.map { ($0.name, $0.shape) })
        guard report.isStrict else {
            throw CheckpointError.mismatch(report, path: path, architecture: architecture)
        }
        state = try found.adapted(to: spec, path: path)
    }

    /// Whether the file at `path` says that it is a checkpoint. False for what cannot be read.
    public static func isCheckpoint(_ path: String) -> Bool {
        attributes(of: path) != nil
    }

    /// The attributes of a checkpoint; nil for another file and for what cannot be read.
    private static func attributes(of path: String) -> [String: HDF5Attribute]? {
        guard let attributes = try? HDF5Reader(path: path).attributes(),
            attributes[CheckpointFormat.versionKey] != nil
        else { return nil }
        return attributes
    }

    /// What the file at `path` says of its network if it is a checkpoint, else nil. No tensors are
    /// read.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``CheckpointError`` if it is damaged.
    public static func network(
        of path: String
    ) throws -> (architecture: String, options: [String: String])? {
        // A file that is none of ours says so here.
        _ = try StateDict(contentsOf: path, expecting: [:])
        guard let attributes = attributes(of: path) else { return nil }
        let checkpoint = try Checkpoint(attributes: attributes, path: path)
        return (checkpoint.architecture, checkpoint.options)
    }

    private init(attributes: [String: HDF5Attribute], path: String) throws {
        typealias Format = CheckpointFormat
        guard let version = attributes[Format.versionKey]?.integer,
            let architecture = attributes[Format.architectureKey]?.string
        else {
            throw CheckpointError(
                .notACheckpoint, path: path,
                problem: "is an HDF5 file but not a checkpoint of retint; "
                    + "turn PyTorch weights into one with `retint import`")
        }
        guard version <= Format.version else {
            throw CheckpointError(
                .newerFormat, path: path,
                problem: "has checkpoint format \(version); this version of retint reads formats "
                    + "up to \(Format.version), so use a newer one")
        }
        self.init(architecture: architecture, state: StateDict())
        options = try Self.options(attributes, path: path)
        training = try attributes[Format.trainingKey].map {
            try Self.text($0, Format.trainingKey, path: path)
        }
    }

    private static func options(
        _ attributes: [String: HDF5Attribute], path: String
    ) throws -> [String: String] {
        let prefix = CheckpointFormat.optionPrefix
        var options: [String: String] = [:]
        for (name, value) in attributes where name.hasPrefix(prefix) {
            options[String(name.dropFirst(prefix.count))] = try text(value, name, path: path)
        }
        return options
    }

    private static func text(
        _ attribute: HDF5Attribute, _ name: String, path: String
    ) throws -> String {
        guard let text = attribute.string else {
            throw CheckpointError(
                .malformed, path: path,
                problem: "attribute \(name.debugDescription) is not a string; "
                    + "the file was changed after retint wrote it")
        }
        return text
    }

    /// The network, with the file named in errors about what the file says of it.
    private func makeColorizer(in path: String) throws -> Module {
        do {
            return try makeColorizer()
        } catch {
            throw CheckpointError(.malformed, path: path, problem: "\(error)")
        }
    }

    /// The shapes of what stands in the optimizer's group, by variable. Each is a scalar or has
    /// the shape of the weight that its name ends with.
    private static func optimizerShapes(
        in reader: HDF5Reader, weights: [String: Shape]
    ) throws -> [String: Shape] {
        let group = CheckpointFormat.optimizerGroup + "/"
        var shapes: [String: Shape] = [:]
        for dataset in try reader.datasetNames() where dataset.hasPrefix(group) {
            let bare = String(dataset.dropFirst(group.count))
            let shape = try reader.shape(of: dataset)
            guard shape.rank == 0 || shape == weight(named: bare, in: weights) else {
                throw CheckpointError(
                    .malformed, path: reader.path,
                    problem: "\(dataset.debugDescription) has shape \(shape), "
                        + "which is not that of the weight it belongs to")
            }
            shapes[CheckpointFormat.optimizerPrefix + bare] = shape
        }
        return shapes
    }

    /// `exp_avg.model1.0.weight` → the shape of `model1.0.weight`.
    private static func weight(named bare: String, in weights: [String: Shape]) -> Shape? {
        var rest = bare[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if let shape = weights[String(rest)] { return shape }
        }
        return nil
    }
}

extension StateDict {
    /// Takes the optimizer's variables out.
    fileprivate mutating func extractOptimizer() -> StateDict {
        var optimizer = StateDict()
        for (name, tensor) in self where name.hasPrefix(CheckpointFormat.optimizerPrefix) {
            optimizer[name] = tensor
        }
        for name in optimizer.names { self[name] = nil }
        return optimizer
    }
}
