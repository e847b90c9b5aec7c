import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// An operation of a model, as the engine runs it.
struct Step {
    let place: ModelDiff.OperationPlace
    /// What is computed: the same for an operation and a special case of it.
    let kind: String
    /// Where its operands come from: steps of lower numbers, and below 0 inputs of the model.
    /// Weights and constants are not among them.
    let operands: [Int]
    /// Stride, axis, ε and the like.
    let parameters: [Parameter]
    /// Operands that are a single constant number.
    let constants: [Float]

    struct Parameter {
        let name: String
        let value: Value
    }

    enum Value {
        case number(Double)
        case text(String)
    }
}

// MARK: From a model

extension Step {
    /// The steps of two models in the order of computation, for inputs of the same shapes if both
    /// models take such.
    ///
    /// - Returns: the steps, and whether their inputs have the same shapes.
    /// - Throws: `ModelError` or `ConversionError` if a model cannot be run.
    static func lists(
        _ first: Model, _ second: Model
    ) throws -> (first: [Step], second: [Step], haveSameInputs: Bool) {
        let shapes = try ModelDiff.inputShapes(of: first, second)
        let own = try first.interface.takes(shapes) ? shapes : first.inputShapes()
        return (try list(first, own), try list(second, shapes), own == shapes)
    }

    private static func list(_ model: Model, _ shapes: [Shape]) throws -> [Step] {
        let names = try model.interface.inputs.map(\.name)
        guard names.count == shapes.count else { throw ShapeError("the numbers of inputs differ") }
        let named = Dictionary(zip(names, shapes)) { $1 }
        // A package without what its metadata say about colors: that is a matter of the interface.
        guard let package = model.package else {
            let graph = try model.graph(shapes: named, folds: false)
            return list(graph.graph, inputs: names, outputs: graph.outputs.map(\.value))
        }
        let raised = try raise(package, inputShapes: named)
        return list(raised.graph, inputs: names, outputs: raised.outputs.map(\.value))
    }

    private static func list(_ graph: Graph, inputs: [String], outputs: [Tensor]) -> [Step] {
        // Numbers of the values that depend on an input.
        var numbers: [Int: Int] = [:]
        var steps: [Step] = []
        for id in graph.live(from: outputs.map(\.id)) {
            let node = graph.nodes[id]
            if let input = node.operation as? Input {
                numbers[id] = -1 - (inputs.firstIndex(of: input.inputName) ?? 0)
                continue
            }
            let operands = node.inputs.compactMap { numbers[$0] }
            guard !operands.isEmpty else { continue }
            numbers[id] = steps.count
            steps.append(Step(node, in: graph, operands))
        }
        return steps
    }

    private init(_ node: Graph.Node, in graph: Graph, _ operands: [Int]) {
        let name = node.module.isEmpty ? node.operation.name : node.module
        place = ModelDiff.OperationPlace(
            name: name, operation: node.operation.name, shape: node.shape.dimensions)
        self.operands = operands
        if node.operation is Relu6 {
            kind = Clip.name
            parameters = [("maximum", 6), ("minimum", 0)].map {
                Parameter(name: $0, value: .number($1))
            }
        } else {
            kind = node.operation.name
            parameters = Parameter.all(of: node.operation)
        }
        constants = node.inputs.compactMap { id in
            guard let constant = graph.nodes[id].operation as? Constant,
                constant.data.scalars.count == 1
            else { return nil }
            return constant.data.scalars[0]
        }
    }

    static func counts(_ steps: [Step]) -> [String: Int] {
        Dictionary(steps.map { ($0.place.operation, 1) }, uniquingKeysWith: +)
    }
}

// MARK: Parameters

extension Step.Parameter {
    /// The properties of an operation, those of their properties among them.
    static func all(of operation: any Operation) -> [Step.Parameter] { all(of: operation, "") }

    private static func all(of value: Any, _ name: String) -> [Step.Parameter] {
        switch value {
        case let number as Float: return [Self(name: name, value: .number(Double(number)))]
        case let number as Double: return [Self(name: name, value: .number(number))]
        default: break
        }
        let mirror = Mirror(reflecting: value)
        let isPlain = value is any CustomStringConvertible && !name.isEmpty
        guard mirror.displayStyle == .struct, !isPlain, !mirror.children.isEmpty else {
            return name.isEmpty ? [] : [Self(name: name, value: .text("\(value)"))]
        }
        return mirror.children.flatMap { child in
            let path = [name, child.label ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
            return all(of: child.value, path)
        }
    }
}

extension Step.Value: CustomStringConvertible {
    /// The longest text of a value that is shown; positions of an index may be many.
    private static let longest = 60

    var description: String {
        switch self {
        case .number(let number): "\(Float(number))"
        case .text(let text):
            text.count > Self.longest ? text.prefix(Self.longest) + "…" : text
        }
    }

    /// Whether values are equal. A program in float16 has ε and the like in that.
    func isLike(_ other: Step.Value) -> Bool {
        switch (self, other) {
        case (.number(let a), .number(let b)): areAlike(Float(a), Float(b))
        case (.text(let a), .text(let b)): a == b
        default: false
        }
    }
}

/// Whether two numbers are equal, or one is the other in half precision.
private func areAlike(_ a: Float, _ b: Float) -> Bool {
    a == b || a.isNaN && b.isNaN || Float(Float16(a)) == b || a == Float(Float16(b))
}

// MARK: Differences

extension Step {
    /// The first two steps that differ.
    ///
    /// - Parameter comparesShapes: whether the shapes of results are compared.
    static func firstDifference(
        _ first: [Step], _ second: [Step], comparesShapes: Bool
    ) -> ModelDiff.OperationDifference? {
        for index in 0..<max(first.count, second.count) {
            let a = index < first.count ? first[index] : nil
            let b = index < second.count ? second[index] : nil
            let changes = changes(a, b, first, second).filter {
                comparesShapes || $0.place != shape
            }
            guard !changes.isEmpty else { continue }
            return ModelDiff.OperationDifference(
                index: index, first: a?.place, second: b?.place, changes: changes)
        }
        return nil
    }

    private static func changes(
        _ a: Step?, _ b: Step?, _ first: [Step], _ second: [Step]
    ) -> [ModelDiff.Change] {
        guard let a, let b, a.kind == b.kind else {
            return [
                ModelDiff.Change(
                    place: "operation", first: a?.place.operation, second: b?.place.operation)
            ]
        }
        var changes: [ModelDiff.Change] = []
        func add(_ place: String, _ own: String?, _ theirs: String?) {
            changes.append(ModelDiff.Change(place: place, first: own, second: theirs))
        }
        if a.place.shape != b.place.shape {
            add(shape, "\(a.place.shape)", "\(b.place.shape)")
        }
        if a.operands != b.operands {
            add("operands", a.operandNames(first), b.operandNames(second))
        }
        let names = Set((a.parameters + b.parameters).map(\.name)).sorted()
        for name in names {
            let own = a.parameters.first { $0.name == name }?.value
            let theirs = b.parameters.first { $0.name == name }?.value
            if let own, let theirs, own.isLike(theirs) { continue }
            add(name, own?.description, theirs?.description)
        }
        let pairs = zip(a.constants, b.constants)
        if a.constants.count == b.constants.count, !pairs.allSatisfy({ areAlike($0, $1) }) {
            add("constant", text(a.constants), text(b.constants))
        }
        return changes
    }

    /// The place of a change of the result's shape.
    private static let shape = "shape"

    private static func text(_ constants: [Float]) -> String {
        constants.map { "\($0)" }.joined(separator: ", ")
    }

    private func operandNames(_ steps: [Step]) -> String {
        operands.map { $0 < 0 ? "input \(-$0)" : steps[$0].place.name }.joined(separator: ", ")
    }
}
