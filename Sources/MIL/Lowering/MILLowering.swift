import MLPackage
import TensorGraph

/// What operations write themselves to: the program so far and the values of the variables.
package struct MILLowering {
    private let graph: Graph
    private let variables: [String: TensorData]
    package let options: LoweringOptions
    /// float32 or float16: that of the operation which is being written.
    package private(set) var precision: MILDataType
    private(set) var builder = MILProgramBuilder()
    /// Where the value of a node stands, in each precision that somebody asked for.
    private var names: [Int: [MILDataType: String]] = [:]
    private var useCounts: [Int: Int] = [:]
    private var absorbed: Set<Int> = []
    /// The largest magnitude among the weights of the operation which is being written.
    private var largestWeight: Float = 0
    /// Patterns and types of ``Float32Operations`` that fitted nothing so far.
    private var unmatched: Set<String>
    private var result = LoweredProgram(program: MILProgram())
    /// The node whose value an operation of the program computes, by the operation's index.
    private var writtenNodes: [Int: String] = [:]

    private init(_ graph: Graph, _ variables: [String: TensorData], _ options: LoweringOptions) {
        self.graph = graph
        self.variables = variables
        self.options = options
        precision = options.precision
        unmatched = Set(options.float32.names + options.float32.types)
    }

    /// The program that computes `outputs`; its inputs are those that the outputs need, float32
    /// like the outputs.
    package static func lower(
        _ outputs: [(name: String, value: Tensor)], variables: [String: TensorData],
        _ options: LoweringOptions
    ) throws -> LoweredProgram {
        var lowering = try MILLowering(outputs, variables, options)
        for node in lowering.written(outputs) { try lowering.lower(node) }
        try lowering.define(outputs)
        return lowering.result
    }

    /// The nodes whose values a program of `outputs` computes, in order; those that go into the
    /// node behind them are none of them.
    package static func nodes(
        _ outputs: [(name: String, value: Tensor)], variables: [String: TensorData],
        _ options: LoweringOptions
    ) throws -> [LoweredNode] {
        let lowering = try MILLowering(outputs, variables, options)
        return lowering.written(outputs).filter {
            $0.operation is any MILLowerable && lowering.constant($0.id) == nil
        }
    }

    private init(
        _ outputs: [(name: String, value: Tensor)], _ variables: [String: TensorData],
        _ options: LoweringOptions
    ) throws {
        guard let graph = outputs.first?.value.graph else {
            throw ConversionError(
                place: "program", rule: "it has no outputs", remedy: "Name at least one output.")
        }
        try graph.validate()
        self.init(graph, variables, options)
        let live = graph.live(from: outputs.map(\.value.id))
        for id in live {
            for input in graph.nodes[id].inputs { useCounts[input, default: 0] += 1 }
        }
        for output in outputs { useCounts[output.value.id, default: 0] += 1 }
        for id in live { markAbsorbed(LoweredNode(id, of: graph)) }
    }

    private mutating func markAbsorbed(_ node: LoweredNode) {
        guard absorbsInput(node), let first = node.inputs.first else { return }
        absorbed.insert(first)
    }

    private func absorbsInput(_ node: LoweredNode) -> Bool {
        (node.operation as? any MILLowerable)?.absorbsInput(of: node, in: self) ?? false
    }

    private func written(_ outputs: [(name: String, value: Tensor)]) -> [LoweredNode] {
        graph.live(from: outputs.map(\.value.id)).filter { !absorbed.contains($0) }
            .map { id in
                var node = LoweredNode(id, of: graph)
                if absorbsInput(node) { node.absorbed = [self.node(node.inputs[0])] }
                return node
            }
    }

    private mutating func define(_ outputs: [(name: String, value: Tensor)]) throws {
        precision = .float32
        for output in outputs {
            try builder.output(try name(of: output.value.id), as: output.name)
        }
        result.program = builder.program
        let pairs = writtenNodes.map { (result.program.operations[$0].outputs[0].name, $1) }
        result.record = NodeRecord(Dictionary(pairs) { first, _ in first })
        guard unmatched.isEmpty || options.precision == .float32 else {
            throw options.float32.unmatched(unmatched, in: result.program)
        }
    }
}

extension MILLowering {
    private mutating func lower(_ node: LoweredNode) throws {
        if let input = node.operation as? Input {
            let type = MILTensorType(.float32, input.shape.dimensions)
            names[node.id] = [.float32: builder.input(input.inputName, type)]
        } else if let operation = node.operation as? any MILLowerable {
            guard constant(node.id) == nil else { return }
            try lower(node, operation)
        } else {
            try checkConstant(node)
        }
    }

    /// Where some operations stay in float32, each is first written so: its types and weights are
    /// known then.
    private mutating func lower(_ node: LoweredNode, _ operation: any MILLowerable) throws {
        if options.precision == .float16, !options.float32.isEmpty {
            var attempt = self
            try attempt.write(node, operation, in: .float32)
            if attempt.keepsInFloat32(node, from: builder.program.operations.count) {
                self = attempt
                return
            }
        }
        try write(node, operation, in: options.precision)
    }

    private mutating func write(
        _ node: LoweredNode, _ operation: any MILLowerable, in precision: MILDataType
    ) throws {
        self.precision = precision
        largestWeight = 0
        let name = try operation.lower(node, into: &self)
        names[node.id] = [precision: name]
        let operations = builder.program.operations
        if let index = operations.lastIndex(where: { $0.outputs.first?.name == name }) {
            writtenNodes[index] = node.name
        }
    }

    /// Whether what was written for a node since `start` has to stay in float32; notes it then.
    private mutating func keepsInFloat32(_ node: LoweredNode, from start: Int) -> Bool {
        let written = builder.program.operations[start...].filter {
            !$0.isConstant && $0.type != "cast"
        }
        let reasons = options.float32.reasons(written, alsoCalled: calls(node))
        let isLarge =
            options.float32.overflowing.map {
                $0.contains(node.name) || !(largestWeight <= HalfPrecision.maximum)
            } ?? false
        guard isLarge || !reasons.isEmpty else { return false }
        unmatched.subtract(reasons)
        result.keptInFloat32 += written.map(\.name)
        return true
    }

    /// The names by which people know a node.
    private func calls(_ node: LoweredNode) -> [String] {
        [node.name] + node.absorbed.map(\.name)
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

    private mutating func cast(_ value: String, _ shape: Shape) -> String {
        let word = precision == .float16 ? "fp16" : "fp32"
        return builder.operation(
            "cast", ["x": .name(value), "dtype": .constant(.string(word))],
            name: "\(value)_\(word)", type: MILTensorType(precision, shape.dimensions))
    }

    /// A value in the present precision; what stands in the other one alone is cast, once.
    private mutating func name(of id: Int) throws -> String {
        let data = constant(id)
        if let data { weigh(data.scalars) }
        if let name = names[id]?[precision] { return name }
        let name: String
        if let data {
            name = try emit(data, name: constantName(id))
        } else if let other = names[id]?.first?.value {
            name = cast(other, graph.nodes[id].shape)
        } else {
            throw LoweredNode(id, of: graph).error(
                "its value is used before it is written", "Please report the network.")
        }
        names[id, default: [:]][precision] = name
        return name
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
    package var target: DeploymentTarget { options.target }

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

    /// New numbers, in the operation's precision.
    package mutating func floats(
        _ scalars: [Float], shape: Shape, name: String
    ) throws -> MILOperand {
        weigh(scalars)
        return .name(try emit(TensorData(shape: shape, scalars: scalars), name: name))
    }

    /// A number in the operation's precision.
    package func float(_ scalar: Float, name: String) throws -> MILOperand {
        guard scalar.magnitude <= largest else { throw unfit(scalar, name) }
        return .constant(.float(scalar, as: precision))
    }

    /// Adds an operation that gives the node's value, or one of another shape on the way to it.
    package mutating func add(
        _ type: String, _ inputs: [String: MILOperand], _ node: LoweredNode, shape: Shape? = nil
    ) -> String {
        builder.operation(
            type, inputs, name: node.name,
            type: MILTensorType(precision, (shape ?? node.shape).dimensions))
    }

    /// The largest number that the operation's precision holds.
    package var largest: Float {
        precision == .float16 ? HalfPrecision.maximum : .greatestFiniteMagnitude
    }

    /// Notes that a normalization went into the weights before it.
    package mutating func noteFolding(of node: LoweredNode) {
        result.foldedModules.append(node.module)
    }
}

/// Numbers that are to be stored.
extension MILLowering {
    private mutating func emit(_ data: TensorData, name: String) throws -> String {
        let scalars = try representable(data.scalars, name)
        let value = MILValue.floats(scalars, shape: data.shape.dimensions, as: precision)
        return builder.constant(value, name: name)
    }

    /// Looks how large weights are where that decides their precision.
    private mutating func weigh(_ scalars: [Float]) {
        guard options.float32.overflowing != nil else { return }
        for scalar in scalars where !(scalar.magnitude <= largestWeight) {
            largestWeight = scalar.magnitude
        }
    }

    /// The numbers, once it is sure that the precision holds them, or after clamping.
    private mutating func representable(_ scalars: [Float], _ name: String) throws -> [Float] {
        let limit = largest
        let bad = scalars.filter { !($0.magnitude <= limit) }
        guard let first = bad.first(where: \.isNaN) ?? bad.first else { return scalars }
        guard options.clamps, !first.isNaN else { throw unfit(first, name) }
        result.clamped.append(ClampedTensor(name: name, count: bad.count))
        let bound = HalfPrecision.maximum
        return scalars.map { $0.magnitude <= limit ? $0 : $0 < 0 ? -bound : bound }
    }

    private func unfit(_ scalar: Float, _ name: String) -> ConversionError {
        let remedy =
            scalar.isFinite
            ? "Export with precision float32, keep its operation in float32, or clamp."
            : "Use a checkpoint that did not diverge"
                + (scalar.isNaN ? "." : ", or clamp infinite numbers.")
        return ConversionError(
            place: "tensor \(name)", rule: "it holds \(scalar), which is no finite \(precision)",
            remedy: remedy)
    }
}
