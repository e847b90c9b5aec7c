import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Builds a program from the layers of a neural network, for one size of its inputs.
final class NetworkReader {
    private(set) var builder = MILProgramBuilder()
    /// The oldest system that has all operations.
    private(set) var target = DeploymentTarget.iOS15
    private let shapes = ResultShapes()
    private var values: [String: LayerValue] = [:]
    private var operationCount = 0
    private var createdCount = 0

    /// More layers than any network has.
    private static let maximumLayers = 1 << 16
    private static let maximumOperations = 1 << 18
    /// More numbers than constants have that a file describes without containing them.
    private static let maximumCreated = 1 << 26

    /// Reads all layers.
    func read(_ layers: [ProtoNeuralNetworkLayer]) throws {
        guard layers.count <= Self.maximumLayers else {
            throw MLPackageError(
                file: "", place: "", rule: "more than \(Self.maximumLayers) layers are not read",
                remedy: "Convert the network again.")
        }
        for (index, proto) in layers.enumerated() {
            let layer = try ReadLayer(proto, index, self)
            guard let read = LayerForms.readers[layer.kind] else { throw layer.unknown() }
            let results = try read(layer)
            guard results.count == proto.output.count else {
                throw layer.error("it has \(proto.output.count) outputs, not \(results.count)")
            }
            for (name, value) in zip(proto.output, results) { values[name] = value }
        }
    }

    func value(_ name: String) -> LayerValue? { values[name] }

    func define(_ name: String, _ value: LayerValue) { values[name] = value }

    /// Adds an input of the program.
    func input(_ name: String, _ dataType: MILDataType, _ shape: [Int]) throws -> Blob {
        let name = builder.input(name, MILTensorType(dataType, shape))
        try shapes.define(input: name, dataType, shape)
        return Blob(name: name, shape: shape)
    }

    /// Counts numbers of constants that the file does not contain, before they are created.
    func create(_ count: Int, place: String) throws {
        guard count <= Self.maximumCreated - createdCount else {
            throw MLPackageError(
                file: "", place: place,
                rule: "the layers repeat or create more than \(Self.maximumCreated) numbers",
                remedy: ModelFileReader.remedy)
        }
        createdCount += count
    }

    func constant(_ value: MILValue, name: String) -> Blob {
        let name = builder.constant(value, name: name)
        shapes.define(name, constant: value)
        return Blob(name: name, shape: value.type.shape ?? [])
    }

    /// Adds an operation with a result of each type.
    func add(
        _ type: String, _ inputs: [String: MILOperand], _ types: [MILDataType], name: String,
        place: String
    ) throws -> [Blob] {
        operationCount += 1
        guard operationCount <= Self.maximumOperations else {
            throw MLPackageError(
                file: "", place: place, rule: "the layers need too many operations",
                remedy: "Convert the network again.")
        }
        var bound: [String: MILOperand] = [:]
        for (parameter, operand) in inputs.sorted(by: { $0.key < $1.key }) {
            guard case .constant(let value) = operand else {
                bound[parameter] = operand
                continue
            }
            bound[parameter] = .name(constant(value, name: "\(name)_\(parameter)").name)
        }
        let results = types.indices.map { MILNamedType("\(name)_\($0)", MILTensorType(types[$0])) }
        let trial = MILOperation(type, inputs: bound.mapValues(\.arguments), outputs: results)
        var blobs: [Blob] = []
        try shapes.add(trial, place: place) { shapes in
            let outputs = zip(types, shapes).enumerated().map { index, result in
                MILNamedType(
                    types.count == 1 ? name : "\(name)_\(index)",
                    MILTensorType(result.0, result.1))
            }
            let names = builder.operation(type, bound, outputs: outputs)
            blobs = zip(names, shapes).map { Blob(name: $0, shape: $1) }
            return names
        }
        return blobs
    }

    /// Adds an output of the program.
    func output(_ blob: Blob, as name: String) throws {
        try builder.output(blob.name, as: name)
    }

    /// Notes that an operation does not exist before a system.
    func require(_ system: DeploymentTarget) { target = max(target, system) }
}

extension MILOperand {
    fileprivate var arguments: [MILArgument] {
        switch self {
        case .name(let name): [.name(name)]
        case .names(let names): names.map { .name($0) }
        case .constant(let value), .inline(let value): [.value(value)]
        }
    }

    static func name(_ blob: Blob) -> MILOperand { .name(blob.name) }

    static func number(_ value: Float) -> MILOperand { .constant(.float(value)) }

    static func integer(_ value: Int) -> MILOperand { .constant(.integer(Int32(clamping: value))) }

    static func flag(_ value: Bool) -> MILOperand { .constant(.bool(value)) }

    static func flags(_ values: [Bool]) -> MILOperand { .constant(.bools(values)) }

    static func text(_ value: String) -> MILOperand { .constant(.string(value)) }
}
