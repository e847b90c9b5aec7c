import RetintGraph
import RetintMLPackage
import RetintTensors

/// The state of lowering a graph to MIL: the program so far and the values of the variables.
package struct MILLowering {
    private let graph: Graph
    private let variables: [String: TensorData]
    package let options: LoweringOptions
    /// The precision, float32 or float16, of the operation that is being lowered.
    package private(set) var precision: MILDataType
    private(set) var builder = MILProgramBuilder()
    /// The name of each node's value in the program, by precision.
    private var names: [Int: [MILDataType: String]] = [:]
    /// The node whose elements a reshape has that is left out, by the reshape.
    private var sources: [Int: Int] = [:]
    /// The whole numbers of values that are floats of them, by name.
    private var wholeNumbers: [String: String] = [:]
    /// The nodes whose values are those of inputs of integers, elsewhere or in another shape.
    private var integers: Set<Int> = []
    private var useCounts: [Int: Int] = [:]
    /// How many of the uses are as indices.
    private var indexUses: [Int: Int] = [:]
    private var absorbed: Set<Int> = []
    /// The largest magnitude among the weights of the operation that is being lowered.
    private var largestWeight: Float = 0
    /// Patterns and types of ``Float32Operations`` that have not matched any operation yet.
    private var unmatched: Set<String>
    private var result = LoweredProgram(program: MILProgram())
    /// The name of the node that each operation of the program computes, by the operation's index.
    private var writtenNodes: [Int: String] = [:]

    private init(_ graph: Graph, _ variables: [String: TensorData], _ options: LoweringOptions) {
        self.graph = graph
        self.variables = variables
        self.options = options
        precision = options.precision
        unmatched = Set(options.float32.names + options.float32.types)
    }

    /// The program that computes `outputs`. Its inputs are those that the outputs depend on.
    ///
    /// - Throws: ``ConversionError`` if an operation or a weight cannot be lowered; `GraphError` if
    ///   the graph is invalid.
    package static func lower(
        _ outputs: [(name: String, value: Tensor)], variables: [String: TensorData],
        _ options: LoweringOptions
    ) throws -> LoweredProgram {
        let outputs = try FewerAxes.of(outputs, limit: options.maximumRank)
        var lowering = try MILLowering(outputs, variables, options)
        for node in lowering.written(outputs) { try lowering.lower(node) }
        try lowering.define(outputs)
        return lowering.result
    }

    /// The nodes whose values a program for `outputs` computes, in order, without those that are
    /// absorbed by a later node.
    ///
    /// - Throws: as `lower(_:variables:_:)` does for an invalid graph.
    package static func nodes(
        _ outputs: [(name: String, value: Tensor)], variables: [String: TensorData],
        _ options: LoweringOptions
    ) throws -> [LoweredNode] {
        let lowering = try MILLowering(outputs, variables, options)
        return lowering.written(outputs).filter {
            OperationForms.lowering($0.operation) != nil && lowering.constant($0.id) == nil
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
            let node = graph.nodes[id]
            for input in node.inputs { useCounts[input, default: 0] += 1 }
            if node.operation is GatherElements || node.operation is ScatterElements {
                indexUses[node.inputs[1], default: 0] += 1
            }
        }
        for output in outputs {
            useCounts[output.value.id, default: 0] += 1
            guard options.interfaceTypes[output.name] == .int32 else { continue }
            indexUses[output.value.id, default: 0] += 1
        }
        for id in live { markAbsorbed(LoweredNode(id, of: graph)) }
    }

    private mutating func markAbsorbed(_ node: LoweredNode) {
        guard absorbsInput(node), let first = node.inputs.first else { return }
        absorbed.insert(first)
    }

    private func absorbsInput(_ node: LoweredNode) -> Bool {
        OperationForms.lowering(node.operation)?.absorbsInput(of: node, in: self) ?? false
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
        var values = try outputs.map { output in
            if let limit = options.maximumRank, output.value.shape.rank > limit {
                throw ConversionError(
                    place: "output \(output.name)",
                    rule:
                        "it has \(output.value.shape.rank) axes, and the format has up to \(limit)",
                    remedy: "Reshape it in the network.")
            }
            let type = options.interfaceTypes[output.name] ?? options.outputType
            return try type == .int32 ? wholeNumbers(output.value.id) : value(output, type)
        }
        for (index, output) in outputs.enumerated() {
            let renamed = try builder.output(values[index], as: output.name)
            values = values.map { renamed[$0] ?? $0 }
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
    /// An output's value in its type.
    private mutating func value(
        _ output: (name: String, value: Tensor), _ type: MILDataType
    ) throws -> String {
        precision = type
        return try name(of: output.value.id)
    }

    /// The value of an output of whole numbers.
    private mutating func wholeNumbers(_ id: Int) throws -> String {
        precision = .float32
        if let whole = knownWholeNumbers(id) { return whole }
        let shape = graph.nodes[id].shape.dimensions
        return builder.operation(
            "cast", ["x": .name(try name(of: id)), "dtype": .constant(.string("int32"))],
            name: "\(constantName(id))_int32", type: MILTensorType(.int32, shape))
    }

    private mutating func lower(_ input: Input, _ id: Int) {
        let type = options.interfaceTypes[input.inputName] ?? options.inputType
        let shape = input.shape.dimensions
        let name = builder.input(input.inputName, MILTensorType(type, shape))
        guard type == .int32 else {
            names[id] = [type: name]
            return
        }
        // Large numbers, such as those of words, are not exact in float16.
        let floats = builder.operation(
            "cast", ["x": .name(name), "dtype": .constant(.string("fp32"))],
            name: "\(name)_fp32", type: MILTensorType(.float32, shape))
        names[id] = [.float32: floats]
        wholeNumbers[floats] = name
        integers.insert(id)
    }

    /// Whether a node computes with integers of an input, which float16 cannot hold beyond 2048.
    private mutating func readsIntegers(_ node: LoweredNode) -> Bool {
        guard node.inputs.contains(where: integers.contains) else { return false }
        let isMovement = node.operation is Reshape || node.operation is Broadcast
        if isMovement { integers.insert(node.id) }
        return !(node.operation is GatherElements || node.operation is ScatterElements)
    }

    /// Whether a node rounds numbers that are whole. If so, it has the names of its input.
    private mutating func isAlreadyWhole(_ node: LoweredNode) -> Bool {
        guard node.operation is Round, knownWholeNumbers(node.inputs[0]) != nil else {
            return false
        }
        names[node.id] = names[node.inputs[0]]
        if integers.contains(node.inputs[0]) { integers.insert(node.id) }
        return true
    }

    /// Leaves out a reshape to more axes than the format has, since the elements keep their order.
    ///
    /// - Returns: whether the node was one.
    /// - Throws: ``ConversionError`` for any other operation on so many axes.
    private mutating func skipHighRank(_ node: LoweredNode) throws -> Bool {
        let rank = (node.inputShapes + [node.shape]).map(\.rank).max() ?? 0
        guard let limit = options.maximumRank, rank > limit else { return false }
        guard node.operation is Reshape else {
            throw node.error(
                "it has \(rank) axes, and the format has up to \(limit)",
                "Write the network with fewer axes there.")
        }
        guard node.shape.rank > limit else { return false }
        sources[node.id] = node.inputs[0]
        return true
    }

    private mutating func lower(_ node: LoweredNode) throws {
        if let input = node.operation as? Input {
            lower(input, node.id)
        } else if let operation = OperationForms.lowering(node.operation) {
            guard constant(node.id) == nil, !isAlreadyWhole(node), try !skipHighRank(node) else {
                return
            }
            try lower(node, operation)
        } else {
            try checkConstant(node)
        }
    }

    /// If some operations stay in float32, lowers each of them in float32 first, because the
    /// decision needs its MIL types and weights.
    private mutating func lower(_ node: LoweredNode, _ operation: any MILLowerable) throws {
        if options.precision == .float16, readsIntegers(node) {
            return try write(node, operation, in: .float32)
        }
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

    /// Whether the operations written for a node since index `start` must stay in float32.
    /// Records them if so.
    private mutating func keepsInFloat32(_ node: LoweredNode, from start: Int) -> Bool {
        let written = builder.program.operations[start...].filter {
            !$0.isConstant && $0.type != "cast"
        }
        let reasons = options.float32.reasons(written, aliases: aliases(of: node))
        let isLarge =
            options.float32.overflowing.map {
                $0.contains(node.name) || !(largestWeight <= HalfPrecision.maximum)
            } ?? false
        guard isLarge || !reasons.isEmpty else { return false }
        unmatched.subtract(reasons)
        result.keptInFloat32 += written.map(\.name)
        return true
    }

    /// The names of a node and of the nodes it absorbs, for matching patterns.
    private func aliases(of node: LoweredNode) -> [String] {
        [node.name] + node.absorbed.map(\.name)
    }

    /// Refuses a node that is neither a constant, which is written where it is used, nor lowerable.
    private func checkConstant(_ node: LoweredNode) throws {
        if constant(node.id) != nil { return }
        if let variable = node.operation as? Variable {
            throw ConversionError(
                place: "tensor \(variable.variableName)",
                rule: "the checkpoint has no values for it",
                remedy: "Use a checkpoint of this architecture.")
        }
        throw node.error(
            "\(node.operation.name) has no equivalent in Core ML's operation set",
            "Write the network without it.")
    }

    private mutating func cast(_ value: String, _ shape: Shape) -> String {
        let word = "\(precision)"
        return builder.operation(
            "cast", ["x": .name(value), "dtype": .constant(.string(word))],
            name: "\(value)_\(word)", type: MILTensorType(precision, shape.dimensions))
    }

    /// The name of a value in the current precision. A value that exists only in another precision
    /// is cast, once.
    private mutating func name(of id: Int) throws -> String {
        if let source = sources[id] { return try name(of: source) }
        let data = constant(id)
        if let data { updateLargestWeight(data.scalars) }
        if let name = names[id]?[precision] { return name }
        let name: String
        if let data {
            name = try emit(data, name: constantName(id))
        } else if let other = names[id]?.first?.value {
            name = cast(other, graph.nodes[id].shape)
        } else {
            throw LoweredNode(id, of: graph).error(
                "its value is used before it is computed", "Please report this network.")
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

/// The context in which operations lower themselves.
extension MILLowering {
    package var target: DeploymentTarget { options.target }

    /// The value of a node that is known at conversion time; nil for others.
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

    /// The value of an input that Core ML requires to be a constant.
    package func required(_ index: Int, of node: LoweredNode) throws -> TensorData {
        if let data = constant(node.inputs[index]) { return data }
        throw node.error(
            "its input \(index) has to be known when the network is converted",
            "Make it a parameter of the network or a constant.")
    }

    /// The node with this id.
    package func node(_ id: Int) -> LoweredNode { LoweredNode(id, of: graph) }

    /// Whether the node's value has exactly one use.
    package func isUsedOnce(_ id: Int) -> Bool { useCounts[id] == 1 }

    /// A reference to a node's value, which is written first if it is a constant.
    package mutating func operand(_ id: Int) throws -> MILOperand { .name(try name(of: id)) }

    /// The name of a constant in the state dict, or the node's name if it is not a variable.
    package func tensorName(_ id: Int) -> String { constantName(id) }

    /// A new constant tensor in the operation's precision.
    package mutating func floats(
        _ scalars: [Float], shape: Shape, name: String
    ) throws -> MILOperand {
        updateLargestWeight(scalars)
        return .name(try emit(TensorData(shape: shape, scalars: scalars), name: name))
    }

    /// A scalar in the operation's precision.
    package func float(_ scalar: Float, name: String) throws -> MILOperand {
        guard scalar.magnitude <= largest else { throw outOfRange(scalar, name) }
        return .constant(.float(scalar, as: precision))
    }

    /// Adds an operation that computes the node's value, or an intermediate value of another shape.
    package mutating func add(
        _ type: String, _ inputs: [String: MILOperand], _ node: LoweredNode, shape: Shape? = nil
    ) -> String {
        builder.operation(
            type, inputs, name: node.name,
            type: MILTensorType(precision, (shape ?? node.shape).dimensions))
    }

    /// Adds an operation that computes whether something holds for each element of the node's
    /// value, or of a shape that spreads over it.
    package mutating func addCondition(
        _ type: String, _ inputs: [String: MILOperand], _ node: LoweredNode, shape: Shape? = nil
    ) -> String {
        builder.operation(
            type, inputs, name: "\(node.name)_condition",
            type: MILTensorType(.bool, (shape ?? node.shape).dimensions))
    }

    /// Adds an operation that computes the node's value as integers of a few bits.
    package mutating func addIntegers(
        _ type: String, _ inputs: [String: MILOperand], _ node: LoweredNode, _ integers: MILDataType
    ) -> String {
        builder.operation(
            type, inputs, name: "\(node.name)_\(integers)",
            type: MILTensorType(integers, node.shape.dimensions))
    }

    /// Adds an operation that computes whole numbers.
    package mutating func addWhole(
        _ type: String, _ inputs: [String: MILOperand], _ node: LoweredNode, shape: Shape
    ) -> String {
        builder.operation(
            type, inputs, name: "\(node.name)_indices",
            type: MILTensorType(.int32, shape.dimensions))
    }

    /// Adds the node's value, which is whole numbers, as floats, unless only indices are made of
    /// it; ``indices(_:of:below:)`` finds the whole numbers again.
    ///
    /// - Parameter extent: the numbers are below it.
    package mutating func addFloats(
        of whole: String, _ node: LoweredNode, below extent: Int
    ) throws -> String {
        guard indexUses[node.id] != useCounts[node.id] else {
            wholeNumbers[whole] = whole
            return whole
        }
        try checkExact(extent, node)
        let name = add(
            "cast", ["x": .name(whole), "dtype": .constant(.string("\(precision)"))], node)
        wholeNumbers[name] = whole
        return name
    }

    /// The whole numbers of which a node's value was made.
    private func knownWholeNumbers(_ id: Int) -> String? {
        (names[id] ?? [:]).sorted { "\($0.key)" < "\($1.key)" }
            .compactMap { wholeNumbers[$0.value] }.first
    }

    private func checkExact(_ extent: Int, _ node: LoweredNode) throws {
        guard precision != .float16 || extent <= 2048 else {
            throw node.error(
                "indices up to \(extent) are not exact in float16", "Export it in float32.")
        }
    }

    /// A reference to a node's value as whole numbers.
    ///
    /// - Parameter extent: the numbers are below it.
    package mutating func indices(
        _ id: Int, of node: LoweredNode, below extent: Int
    ) throws -> MILOperand {
        if let data = constant(id) {
            let range = -Float(extent)..<Float(extent)
            guard data.scalars.allSatisfy(range.contains) else {
                throw node.error("an index is out of range for \(extent)", "Correct the network.")
            }
            // Not all systems count negative indices from the end.
            let values = data.scalars.map { Int32($0 < 0 ? $0 + Float(extent) : $0) }
            let value = MILValue(
                type: MILTensorType(.int32, data.shape.dimensions), content: .integers(values))
            return .name(builder.constant(value, name: "\(node.name)_positions"))
        }
        if let whole = knownWholeNumbers(id) { return .name(whole) }
        let exact = names[id]?[.float32]
        if exact == nil { try checkExact(extent, node) }
        let floats = try exact ?? name(of: id)
        let shape = LoweredNode(id, of: graph).shape
        return .name(
            addWhole(
                "cast", ["x": .name(floats), "dtype": .constant(.string("int32"))], node,
                shape: shape))
    }

    /// The largest finite value of the operation's precision.
    package var largest: Float {
        precision == .float16 ? HalfPrecision.maximum : .greatestFiniteMagnitude
    }

    /// Records that a batch normalization was folded into the preceding convolution.
    package mutating func noteFolding(of node: LoweredNode) {
        result.foldedModules.append(node.module)
    }
}

/// Constants to be stored in the program.
extension MILLowering {
    private mutating func emit(_ data: TensorData, name: String) throws -> String {
        let scalars = try representable(data.scalars, name)
        let value = MILValue.floats(scalars, shape: data.shape.dimensions, as: precision)
        return builder.constant(value, name: name)
    }

    /// Tracks the largest weight, if the precision of operations depends on it.
    private mutating func updateLargestWeight(_ scalars: [Float]) {
        guard options.float32.overflowing != nil else { return }
        for scalar in scalars where !(scalar.magnitude <= largestWeight) {
            largestWeight = scalar.magnitude
        }
    }

    /// The scalars, if the precision can represent them, or clamped to its range.
    private mutating func representable(_ scalars: [Float], _ name: String) throws -> [Float] {
        let (limit, keepsInfinity) = (largest, options.keepsInfinity)
        let bad = scalars.filter { !($0.magnitude <= limit || keepsInfinity && $0.isInfinite) }
        guard let first = bad.first(where: \.isNaN) ?? bad.first else { return scalars }
        guard options.clamps, !first.isNaN else { throw outOfRange(first, name) }
        result.clamped.append(ClampedTensor(name: name, count: bad.count))
        let bound = HalfPrecision.maximum
        return scalars.map { value in
            if value.magnitude <= limit || keepsInfinity && value.isInfinite { return value }
            return value < 0 ? -bound : bound
        }
    }

    private func outOfRange(_ scalar: Float, _ name: String) -> ConversionError {
        let remedy =
            scalar.isFinite
            ? "Export with precision float32, keep its operation in float32, or clamp."
            : "Use a checkpoint whose training did not diverge"
                + (scalar.isNaN ? "." : ", or clamp infinite values.")
        return ConversionError(
            place: "tensor \(name)",
            rule: "it contains \(scalar), which is not a finite \(precision) value",
            remedy: remedy)
    }
}
