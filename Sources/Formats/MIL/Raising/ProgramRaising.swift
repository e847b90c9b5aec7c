import RetintGraph
import RetintMLPackage
import RetintTensors

/// Converts a program to a graph, from its inputs to its outputs.
final class ProgramRaising {
    private let package: MLPackage
    private let graph = Graph()
    private let values: RaisedValues
    private let rounding: ResultRounding
    private let boundary: RaisedBoundary
    private let record: NodeRecord
    private var inputs: [(name: String, shape: Shape)] = []
    private var results: [RaisedResult] = []

    init(_ package: MLPackage, rounding: ResultRounding, boundary: RaisedBoundary) {
        self.package = package
        self.rounding = rounding
        self.boundary = boundary
        record = NodeRecord(package)
        values = RaisedValues(roundsToHalf: rounding == .every)
    }

    func defineInputs(_ requested: [String: Shape]) throws {
        for input in package.program.inputs {
            let shape = try shape(of: input, requested: requested[input.name])
            let type = input.type.dataType
            guard type.isFloat || Self.wholeTypes.contains(type) else {
                throw ConversionError(
                    place: "input \(input.name)", rule: "\(type) is not supported",
                    remedy: "Convert the network with a float input.")
            }
            inputs.append((input.name, shape))
            let value = boundary.input(graph.input(input.name, shape))
            // Whoever calls the model rounds to integers.
            let given = type.isFloat ? value : type.converted(round(value))
            values.define(input.name, rounded(given, input.type), type)
        }
    }

    /// Integers, and booleans, which are 0 and 1, are kept as floats.
    private static let wholeTypes: Set<MILDataType> = [
        .bool, .int8, .int16, .int32, .uint8, .uint16,
    ]

    private func shape(of input: MILNamedType, requested: Shape?) throws -> Shape {
        let feature = package.description.inputs.first { $0.name == input.name }
        let standard = input.type.shape ?? feature?.type.defaultShape ?? []
        let shape = requested ?? Shape(standard)
        let dimensions = input.type.dimensions
        let fits =
            shape.rank == dimensions.count
            && zip(dimensions, shape.dimensions).allSatisfy { $0 == nil || $0 == $1 }
        guard fits, shape.boundedCount != nil else {
            let isImage = dimensions.count == 4 && shape.rank == 4
            let channels = isImage && dimensions[1] != shape[1] ? dimensions[1] : nil
            throw ConversionError(
                place: "input \(input.name)", rule: "\(shape) does not fit \(input.type)",
                remedy: channels.map { "It takes \($0) channels, [N, C, H, W]." }
                    ?? "Use the size that the package was made for.")
        }
        if let feature { try check(shape, of: feature) }
        return shape
    }

    /// Refuses shapes that the program supports but the model's interface does not allow.
    private func check(_ shape: Shape, of feature: Feature) throws {
        guard feature.type.allows(shape.dimensions) else {
            throw ConversionError(
                place: "input \(feature.name)", rule: "\(shape) is not one of the sizes it takes",
                remedy: "Use one of \(feature.type.allowedShapes).")
        }
        try boundary.checkShape(shape, feature)
    }

    func raise(_ operation: MILOperation, place: String) throws {
        if let output = operation.outputs.first, let value = operation.constantValue {
            return values.define(output.name, constant: value)
        }
        let raised = RaisedOperation(
            operation: operation, place: place, graph: graph, values: values)
        try raised.naming {
            if operation.isConstantExpression {
                for (output, value) in zip(operation.outputs, try raised.decompressed()) {
                    values.define(output.name, constant: value)
                }
            } else if let sizes = try raised.sizes() {
                try define(sizes, operation, place)
            } else {
                try define(try raised.results(), operation, place)
            }
        }
    }

    /// Defines what an operation on sizes computes.
    private func define(_ sizes: [MILValue], _ operation: MILOperation, _ place: String) throws {
        try check(sizes.map { Shape($0.type.shape ?? []) }, operation, place)
        for (size, output) in zip(sizes, operation.outputs) {
            values.define(output.name, size: size)
        }
    }

    /// Checks the shapes of an operation's results against the declared ones.
    private func check(_ shapes: [Shape], _ operation: MILOperation, _ place: String) throws {
        guard shapes.count == operation.outputs.count else {
            throw ConversionError(
                place: place,
                rule: "it has \(operation.outputs.count) outputs, but \(shapes.count) "
                    + "are expected",
                remedy: "The package is damaged: export it again.")
        }
        for (shape, output) in zip(shapes, operation.outputs) {
            let declared = output.type.dimensions
            let fits =
                declared.count == shape.rank
                && zip(declared, shape.dimensions).allSatisfy { $0 == nil || $0 == $1 }
            guard fits, shape.boundedCount != nil else {
                throw RaisedOperation.damaged(
                    place,
                    "\(output.name) is declared as \(output.type) but evaluates to \(shape)")
            }
        }
    }

    private func define(_ results: [Tensor], _ operation: MILOperation, _ place: String) throws {
        try check(results.map(\.shape), operation, place)
        let arguments = tensors(of: operation)
        for (result, output) in zip(results, operation.outputs) {
            let value = rounded(result, output.type)
            values.define(output.name, value, output.type.dataType)
            guard !Identity.milTypes.contains(operation.type) else { continue }
            self.results.append(
                RaisedResult(
                    name: output.name, node: record.nodes[output.name], operation: operation.type,
                    value: value,
                    inputs: arguments))
        }
    }

    /// Rounds a value to half precision where needed. A value that is already rounded is not
    /// rounded again.
    private func rounded(_ value: Tensor, _ type: MILTensorType) -> Tensor {
        switch rounding {
        case .declared where type.dataType == .float16, .every where type.dataType.isFloat:
            value.operation is RoundToHalf ? value : value.applying(RoundToHalf())
        default: value
        }
    }

    /// An operation's inputs without constants, sorted by parameter name.
    private func tensors(of operation: MILOperation) -> [Tensor] {
        operation.inputs.sorted { $0.key < $1.key }.flatMap(\.value).compactMap { argument in
            argument.name.flatMap(values.computed)
        }
    }

    func model() throws -> RaisedModel {
        let outputs = try package.program.outputs.map { name in
            guard let value = try values.tensor(name, in: graph) else {
                throw ConversionError(
                    place: "output \(name)", rule: "it is not a tensor of numbers",
                    remedy: "Convert the network with such outputs.")
            }
            return (name: name, value: boundary.output(value))
        }
        return RaisedModel(
            graph: graph, inputs: inputs, outputs: outputs, variables: values.variables,
            results: results, values: values.computed)
    }
}
