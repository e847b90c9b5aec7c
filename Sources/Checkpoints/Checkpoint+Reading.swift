import Files
import Layers
import TensorFiles
import TensorGraph

extension Checkpoint {
    /// Reads a checkpoint. The shapes of all tensors are checked against the architecture before
    /// any is read.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``CheckpointError`` if it is not
    ///   a checkpoint or its tensors are not those of its architecture.
    public init(contentsOf path: some PathConvertible) throws {
        try self.init(path: path.filePath.string)
    }

    private init(path: String) throws {
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

    /// Whether the file at `path` has a checkpoint's attributes; false for one that cannot be read.
    public static func isCheckpoint(_ path: some PathConvertible) -> Bool {
        attributes(of: path.filePath.string) != nil
    }

    /// The attributes of a checkpoint; nil for another file or one that cannot be read.
    private static func attributes(of path: String) -> [String: HDF5Attribute]? {
        guard let attributes = try? HDF5Reader(path: path).attributes(),
            attributes[CheckpointFormat.versionKey] != nil
        else { return nil }
        return attributes
    }

    /// The architecture and options of the checkpoint at `path`, without reading its tensors; nil
    /// for another file.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``CheckpointError`` if it is
    ///   damaged.
    public static func network(
        of path: some PathConvertible
    ) throws -> (architecture: String, options: [String: String])? {
        let path = path.filePath.string
        // Throws for a file that cannot be read.
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

    /// The network; errors about its architecture and options name the file.
    private func makeColorizer(in path: String) throws -> Module {
        do {
            return try makeColorizer()
        } catch {
            throw CheckpointError(.malformed, path: path, problem: "\(error)")
        }
    }

    /// The shapes of the tensors in the optimizer's group, by variable. Each is a scalar or has the
    /// shape of the weight that its name ends with.
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
    /// Removes the optimizer's variables and returns them.
    fileprivate mutating func extractOptimizer() -> StateDict {
        var optimizer = StateDict()
        for (name, tensor) in self where name.hasPrefix(CheckpointFormat.optimizerPrefix) {
            optimizer[name] = tensor
        }
        for name in optimizer.names { self[name] = nil }
        return optimizer
    }
}
