import MLPackage
import TensorGraph

/// What operations write themselves to: the program so far and the values of the variables.
package struct MILLowering {
    private let graph: Graph
    private let variables: [String: TensorData]
    /// float32 or float16, for the whole program.
    package let precision: MILDataType
    package let target: DeploymentTarget
    private(set) var builder = MILProgramBuilder()
    private var names: [Int: String] = [:]
    private var useCounts: [Int: Int] = [:]
    private var absorbed: Set<Int> = []

    private init(
        _ graph: Graph, variables: [String: TensorData], precision: MILDataType,
        target: DeploymentTarget
    ) {
        self.graph = graph
        self.variables = variables
        self.precision = precision
        self.target = target
    }

    /// The program that computes `outputs`; its inputs are those that the outputs need, float32
    /// like the outputs.
    package static func program(
        outputs: [(name: String, value: Tensor)], variables: [String: TensorData],
        precision: MILDataType, target: DeploymentTarget
    ) throws -> MILProgram {
        guard let graph = outputs.first?.value.graph else {
            throw ConversionError(
                place: "program", rule: "it has no outputs", remedy: "Name at least one output.")
        }
        try graph.validate()
        var lowering = MILLowering(
            graph, variables: variables, precision: precision, target: target)
        try lowering.lower(outputs)
        return lowering.builder.program
    }

    private mutating func lower(_ outputs: [(name: String, value: Tensor)]) throws {
        let live = graph.live(from: outputs.map(\.value.id))
        for id in live {
            for input in graph.nodes[id].inputs { useCounts[input, default: 0] += 1 }
        }
        for output in outputs { useCounts[output.value.id, default: 0] += 1 }
        for id in live { markAbsorbed(LoweredNode(id, of: graph)) }
        for id in live where !absorbed.contains(id) { try lower(LoweredNode(id, of: graph)) }
        for output in outputs {
            let value = try name(of: output.value.id)
            let single = cast(value, to: .float32, output.value.shape)
            try builder.output(single, as: output.name)
        }
    }
}

extension MILLowering {
    private mutating func markAbsorbed(_ node: LoweredNode) {
        guard let operation = node.operation as? any MILLowerable, let first = node.inputs.first,
            operation.absorbsInput(of: node, in: self)
        else { return }
        absorbed.insert(first)
    }

    private mutating func lower(_ node: LoweredNode) throws {
        if let input = node.operation as? Input {
            let name = builder.input(
                input.inputName, MILTensorType(.float32, input.shape.dimensions))
            names[node.id] = cast(name, to: precision, input.shape)
        } else if let operation = node.operation as? any MILLowerable {
            guard constant(node.id) == nil else { return }
            names[node.id] = try operation.lower(node, into: &self)
        } else {
            try checkConstant(node)
        }
    }

    /// Constants are written where they are used; other operations need a form in MIL.
    private func checkConstant(_ node: LoweredNode) throws {
        if constant(node.id) != nil { return }
        if let variable = node.operation as? Variable {
            throw ConversionError(
                place: "tensor \(variable.variableName)",
                rule: "the checkpoint has no values for it",
                remedy: "Use a checkpoint of this architecture.")
        }
        throw node.error(
            "\(node.operation.name) has no form in Core ML's operation set",
            "Write the network without it.")
    }

    private mutating func cast(_ value: String, to type: MILDataType, _ shape: Shape) -> String {
        guard precision == .float16 else { return value }
        let word = type == .float16 ? "fp16" : "fp32"
        return builder.operation(
            "cast", ["x": .name(value), "dtype": .constant(.string(word))],
            name: "\(value)_\(word)", type: MILTensorType(type, shape.dimensions))
    }

    private mutating func name(of id: Int) throws -> String {
        if let name = names[id] { return name }
        guard let data = constant(id) else {
            throw LoweredNode(id, of: graph).error(
                "its value is used before it is written", "Please report the network.")
        }
        let name = try emit(data, name: constantName(id))
        names[id] = name
        return name
    }

    private mutating func emit(_ data: TensorData, name: String) throws -> String {
        builder.constant(try value(data.scalars, shape: data.shape, name: name), name: name)
    }

    private func constantName(_ id: Int) -> String {
        switch graph.nodes[id].operation {
        case let variable as Variable: variable.variableName
        case is Reshape: constantName(graph.nodes[id].inputs[0])
        default: LoweredNode(id, of: graph).name
        }
    }
}

/// What operations look at and write with.
extension MILLowering {
    /// The numbers of a node that are known before the program runs; nil for others.
    package func constant(_ id: Int) -> TensorData? {
        let node = graph.nodes[id]
        switch node.operation {
        case let constant as Constant: return constant.data
        case let variable as Variable: return variables[variable.variableName]
        case is Reshape:
            return constant(node.inputs[0]).map {
                TensorData(shape: node.shape, scalars: $0.scalars)
            }
        default: return nil
        }
    }

    /// The numbers of a parameter that Core ML wants to know before the program runs.
    package func required(_ index: Int, of node: LoweredNode) throws -> TensorData {
        if let data = constant(node.inputs[index]) { return data }
        throw node.error(
            "its input \(index) has to be known when the package is written",
            "Make it a parameter of the network or a constant.")
    }

    /// The node behind an input.
    package func node(_ id: Int) -> LoweredNode { LoweredNode(id, of: graph) }

    /// Whether nothing but one node needs this one's value.
    package func isUsedOnce(_ id: Int) -> Bool { useCounts[id] == 1 }

    /// A value computed or stored earlier.
    package mutating func operand(_ id: Int) throws -> MILOperand { .name(try name(of: id)) }

    /// The name that a constant behind an input has in the state dict.
    package func tensorName(_ id: Int) -> String { constantName(id) }

    /// New numbers, in the program's precision.
    package mutating func floats(
        _ scalars: [Float], shape: Shape, name: String
    ) throws -> MILOperand {
        .name(try emit(TensorData(shape: shape, scalars: scalars), name: name))
    }

    /// A number in the program's precision.
    package func float(_ scalar: Float, name: String) throws -> MILOperand {
        .constant(try value([scalar], shape: .scalar, name: name))
    }

    /// Adds an operation that gives the node's value, or one of another shape on the way to it.
    package mutating func add(
        _ type: String, _ inputs: [String: MILOperand], _ node: LoweredNode, shape: Shape? = nil
    ) -> String {
        builder.operation(
            type, inputs, name: node.name,
            type: MILTensorType(precision, (shape ?? node.shape).dimensions))
    }

    /// The largest number that the program's precision holds.
    package var largest: Float {
        precision == .float16 ? HalfPrecision.maximum : .greatestFiniteMagnitude
    }

    private func value(_ scalars: [Float], shape: Shape, name: String) throws -> MILValue {
        let limit = largest
        if let bad = scalars.first(where: { !($0.magnitude <= limit) }) {
            throw ConversionError(
                place: "tensor \(name)", rule: "it holds \(bad), which is no finite \(precision)",
                remedy: bad.isFinite
                    ? "Export with precision float32." : "Use a checkpoint that did not diverge.")
        }
        return .floats(scalars, shape: shape.dimensions, as: precision)
    }
}
