import RetintArchitectures
import RetintFiles
import RetintGraph
import RetintLayers
import RetintTensorFiles
import RetintTensors

/// An open checkpoint, checked except for the elements of its tensors.
struct CheckpointFile: Sendable {
    /// The checkpoint without its tensors.
    let head: Checkpoint
    private let path: String
    private let spec: StateSpec
    private let tensors: HDF5StateDict
    /// The names of the ranges that inputs of layers were trained to be rounded to.
    private let ranges: [String]
    /// The optimizer's variables: the shapes by name.
    private let optimizerShapes: [String: Shape]

    /// Opens a file. The shapes of all tensors are checked against the architecture before any is
    /// read.
    ///
    /// - Throws: the errors of `Checkpoint.init(contentsOf:)`.
    init(_ path: some PathConvertible) throws {
        let reader = try HDF5Reader(path: path)
        self.path = reader.path
        let attributes = try CheckpointAttributes(reader.attributes(), path: reader.path)
        tensors = try HDF5StateDict(from: reader)
        let network = try Self.network(attributes, in: tensors, reader.path)
        head = Checkpoint(network, state: StateDict(), training: attributes.training)
        spec = StateSpec(of: try Self.naming(reader.path) { try network.make() })
        let expected = spec.entries.map { ($0.name, $0.shape) }
        var weights = Dictionary(uniqueKeysWithValues: expected)
        let (dictionary, known) = (tensors, weights)
        ranges = tensors.names.filter { name in
            guard let weight = InputRounding.weight(ofRange: name) else { return false }
            return known[weight] != nil && dictionary.shape(of: name) == .scalar
        }
        for name in ranges { weights[name] = .scalar }
        optimizerShapes = try Self.optimizerShapes(in: tensors, weights: weights, path: reader.path)
        var others = optimizerShapes
        for name in ranges { others[name] = .scalar }
        if network.definition != nil {
            others[CheckpointFormat.definitionName] = tensors.shape(
                of: CheckpointFormat.definitionName)
        }
        let report = tensors.compare(expected: expected, besides: others)
        guard report.isStrict else {
            throw CheckpointError.mismatch(
                report, path: reader.path, architecture: network.architecture)
        }
        try tensors.checkBudget(of: expected.map(\.0) + optimizerShapes.keys)
    }

    /// Reads all tensors.
    func checkpoint() throws -> Checkpoint {
        var checkpoint = head
        for entry in spec.entries {
            checkpoint.state[entry.name] = try tensors.tensor(entry.name)
                .adapted(to: entry, path: path)
        }
        for name in ranges {
            checkpoint.state[name] = StoredTensor(try range(name))
        }
        for name in tensors.names where optimizerShapes[name] != nil {
            checkpoint.optimizer[name] = try tensors.tensor(name)
        }
        return checkpoint
    }

    /// The weights that a program loads, by name. Those whose stored format differs from memory
    /// are read now.
    func variables() throws -> [String: any TensorSource] {
        var variables: [String: any TensorSource] = [:]
        for entry in spec.entries {
            let source = entry.kind == .counter ? nil : tensors.source(of: entry.name)
            variables[entry.name] =
                try source
                ?? tensors.tensor(entry.name).adapted(to: entry, path: path).tensorData
        }
        for name in ranges { variables[name] = try range(name) }
        return variables
    }

    private func range(_ name: String) throws -> TensorData {
        guard let range = try tensors.tensor(name).tensorData, range.scalars[0].isFinite else {
            throw CheckpointError(
                .malformed, path: path,
                problem: "\(name.debugDescription) must be a finite float; train again")
        }
        return range
    }

    private static func network(
        _ attributes: CheckpointAttributes, in tensors: HDF5StateDict, _ path: String
    ) throws -> NetworkDescription {
        guard attributes.architecture == ImportedColorizer.architecture else {
            return try naming(path) { try attributes.namedNetwork() }
        }
        guard let option = attributes.optionTexts.keys.min() else {
            return .imported(try definition(in: tensors, path))
        }
        throw CheckpointError(
            .malformed, path: path,
            problem: "has the option \(option.debugDescription), but an imported network takes "
                + "none; the file was changed after retint wrote it")
    }

    /// The definition of an imported network.
    private static func definition(
        in tensors: HDF5StateDict, _ path: String
    ) throws -> NetworkDefinition {
        let name = CheckpointFormat.definitionName
        let count = tensors.shape(of: name)?.count ?? 0
        guard (1...NetworkDefinition.maximumBytes).contains(count) else {
            throw CheckpointError(
                .malformed, path: path,
                problem: "\(CheckpointFormat.definition.debugDescription), which defines the "
                    + "network, must have 1 to \(NetworkDefinition.maximumBytes) bytes, not "
                    + "\(count); import the network again")
        }
        let bytes = (try tensors.tensor(name).integers ?? []).compactMap(UInt8.init(exactly:))
        guard bytes.count == count else {
            throw CheckpointError(
                .malformed, path: path,
                problem: "\(CheckpointFormat.definition.debugDescription) does not contain bytes; "
                    + "import the network again")
        }
        return try naming(path) { try NetworkDefinition(bytes: bytes) }
    }

    /// Lets errors about a network name its file.
    private static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw CheckpointError(.malformed, path: path, problem: "\(error)")
        }
    }

    /// The shapes of the tensors in the optimizer's group, by variable. Each is a scalar, a weight
    /// of a network that is trained beside this one, or has the shape of the weight that its name
    /// ends with.
    private static func optimizerShapes(
        in tensors: HDF5StateDict, weights: [String: Shape], path: String
    ) throws -> [String: Shape] {
        let (group, prefix) = (CheckpointFormat.optimizerGroup, CheckpointFormat.optimizerPrefix)
        var (shapes, weights) = ([String: Shape](), weights)
        for name in tensors.names where name.hasPrefix(CheckpointFormat.opponentPrefix) {
            weights[String(name.dropFirst(prefix.count))] = tensors.shape(of: name)
        }
        for name in tensors.names where name.hasPrefix(prefix) {
            let bare = String(name.dropFirst(prefix.count))
            guard let shape = tensors.shape(of: name) else { continue }
            guard
                shape.rank == 0 || name.hasPrefix(CheckpointFormat.opponentPrefix)
                    || shape == weight(named: bare, in: weights)
            else {
                throw CheckpointError(
                    .malformed, path: path,
                    problem: "\("\(group)/\(bare)".debugDescription) has shape \(shape), "
                        + "which is not that of the weight it belongs to")
            }
            shapes[name] = shape
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
