import RetintExport
import RetintMIL
import RetintMLPackage
import RetintRuntime

/// The float32 constants of an original program for the operations of a package that was made from
/// the same network in another precision.
struct OriginalConstants {
    /// The constants by parameter, by the name of the operation's first output in the package.
    private(set) var replacements: [String: [String: MILValue]] = [:]
    /// The names of the package's constants that have a counterpart, with that counterpart, in the
    /// order of their first use.
    private(set) var pairs: [(name: String, original: MILValue)] = []

    init(_ package: MLPackage, original: MLPackage) {
        let types = package.program.types
        let values = original.program.constantsByName.filter {
            $0.value.type.dataType == .float32
        }
        let others = original.operationsByName
        var paired: Set<String> = []
        for (name, own) in package.operationsByName.sorted(by: { $0.value[0].0 < $1.value[0].0 }) {
            guard let theirs = others[name], theirs.count == own.count else { continue }
            for ((_, operation), (_, other)) in zip(own, theirs) where operation.type == other.type
            {
                for (parameter, arguments) in operation.inputs.sorted(by: { $0.key < $1.key }) {
                    guard arguments.count == 1, let constant = arguments[0].name,
                        let value = (other.inputs[parameter]?.first?.name).flatMap({ values[$0] }),
                        let type = types[constant], type.isFloating,
                        value.type.dimensions == type.dimensions
                    else { continue }
                    replacements[operation.outputs[0].name, default: [:]][parameter] = value
                    // In float16, statistics are merged into scale and shift.
                    if operation.type != "batch_norm", paired.insert(constant).inserted {
                        pairs.append((constant, value))
                    }
                }
            }
        }
        pairByValue(package, Array(values.values), &paired)
    }

    /// Pairs the other constants with those that become them when they are rounded to float16:
    /// another converter has other names.
    private mutating func pairByValue(
        _ package: MLPackage, _ originals: [MILValue], _ paired: inout Set<String>
    ) {
        let constants = package.program.constantsByName
        // Rounding them all takes time, and names mostly pair everything.
        lazy var rounded = RoundedConstants(originals)
        for operation in package.program.computing {
            let name = operation.outputs[0].name
            for (parameter, arguments) in operation.inputs.sorted(by: { $0.key < $1.key }) {
                guard arguments.count == 1, replacements[name]?[parameter] == nil,
                    let constant = arguments[0].name, let value = constants[constant],
                    value.type.dataType == .float16, let original = rounded.original(of: value)
                else { continue }
                replacements[name, default: [:]][parameter] = original
                if paired.insert(constant).inserted { pairs.append((constant, original)) }
            }
        }
    }
}

/// Constants in float32, by what rounding to float16 makes of them.
private struct RoundedConstants {
    private struct Key: Hashable {
        let dimensions: [Int?]
        let halfs: [UInt16]
    }

    private var originals: [Key: MILValue] = [:]
    private var ambiguous: Set<Key> = []

    init(_ values: [MILValue]) {
        for value in values {
            guard let floats = try? value.floats() else { continue }
            let key = Key(
                dimensions: value.type.dimensions, halfs: HalfPrecision.halfs(floats))
            if let other = originals.updateValue(value, forKey: key),
                (try? other.floats()) != floats
            {
                ambiguous.insert(key)
            }
        }
    }

    /// The only constant that becomes a value in float16.
    func original(of value: MILValue) -> MILValue? {
        guard let floats = try? value.floats() else { return nil }
        let key = Key(dimensions: value.type.dimensions, halfs: HalfPrecision.halfs(floats))
        return ambiguous.contains(key) ? nil : originals[key]
    }
}

extension MILProgram {
    /// The constants, by name.
    fileprivate var constantsByName: [String: MILValue] {
        let constants = operations.compactMap { operation in
            operation.constantValue.map { (operation.outputs[0].name, $0) }
        }
        return Dictionary(constants) { first, _ in first }
    }
}

extension MLPackage {
    /// The computing operations, with their positions, by the node that they were exported from,
    /// or else by name. A node may be computed several times.
    fileprivate var operationsByName: [String: [(Int, MILOperation)]] {
        let record = NodeRecord(self)
        let aliases = program.aliases
        // An output may be a cast of the value that the node computes.
        let nodes = Dictionary(record.nodes.map { (aliases[$0.key] ?? $0.key, $0.value) }) {
            first, _ in first
        }
        return Dictionary(grouping: program.computing.enumerated().map { ($0.offset, $0.element) })
        {
            nodes[$0.1.outputs[0].name] ?? plainName($0.1.outputs[0].name)
        }
    }
}

/// The float32 package of the network that a package was made from.
///
/// - Parameter other: the float32 package itself, the checkpoint, or the ONNX file.
/// - Throws: ``VerificationError`` if retint did not export the package from such a network; the
///   errors of `Checkpoint.package(_:)` and `Model.converted(_:)`.
func originalPackage(of model: Model, from other: Model) throws -> MLPackage {
    if let package = other.package { return package }
    if let package = model.package, other.checkpoint == nil {
        guard !NodeRecord(package).nodes.isEmpty else {
            throw VerificationError.notExported(model, from: other)
        }
        return try other.converted(
            ExportOptions(of: package).inFloat32, shapes: model.inputShapesByName())
    }
    guard let package = model.package, let checkpoint = other.checkpoint else {
        throw VerificationError.notExported(model, from: other)
    }
    let source = try ExportSource(checkpoint.checkpoint())
    if let original = try originalPackage(of: package, from: source) { return original }
    // A colorizer of another program may have been exported with the inputs of its file.
    let network = other.inOriginalForm
    guard network.checkpoint == nil else {
        throw VerificationError.notExported(model, from: other)
    }
    return try originalPackage(of: model, from: network)
}

extension VerificationError {
    static func notExported(_ model: Model, from other: Model) -> VerificationError {
        VerificationError(
            .badModel, path: model.name,
            "retint did not export it from a network like \(other.name), so their operations "
                + "cannot be paired; compare it with a float32 package of the same network")
    }
}
