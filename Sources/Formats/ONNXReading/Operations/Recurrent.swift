import RetintGraph
import RetintTensors

/// Recurrent layers.
enum Recurrent: OperationFamily {
    static let rules: [String: OperationRule] = [
        "LSTM": layer(.lstm(input: 0, forget: 2, cell: 3, output: 1), ["Sigmoid", "Tanh", "Tanh"]),
        "GRU": layer(
            .gru(reset: 1, update: 0, candidate: 2, resetsProduct: false), ["Sigmoid", "Tanh"]),
        "RNN": layer(.plain, ["Tanh"]),
    ]

    /// - Parameter standard: the default activations of one direction.
    private static func layer(_ kind: Recurrence.Kind, _ standard: [String]) -> OperationRule {
        OperationRule(parameters: [1, 2, 3]) { node in
            guard try node.integer("layout", default: 0) == 0, node.optional(4) == nil,
                !node.has("clip"), node.optional(7) == nil, try !node.flag("input_forget")
            else {
                throw node.error(
                    "layout, sequence_lens, clip, input_forget and peepholes are not supported")
            }
            return try layer(kind, standard, node)
        }
    }

    private static func layer(
        _ kind: Recurrence.Kind, _ standard: [String], _ node: NodeContext
    ) throws -> [ONNXValue] {
        let directions: [Bool]
        switch try node.string("direction", default: "forward") {
        case "forward": directions = [false]
        case "reverse": directions = [true]
        case "bidirectional": directions = [false, true]
        case let other: throw node.error("the direction \(other.quoted) is not supported")
        }
        let x = try node.tensor(0)
        // Each step adds operations to the graph.
        try node.budget.take((x.shape.dimensions.first ?? 1) * 1024)
        let activations = try activations(node, standard, directions.count)
        let results = try directions.enumerated().map { index, isReverse in
            try Direction(node, kind, index, of: directions.count, x)
                .run(activations[index], isReverse: isReverse)
        }
        func joined(_ parts: [Tensor], axis: Int) -> Tensor {
            let apart = parts.map { part in
                var shape = part.shape.dimensions
                shape.insert(1, at: Swift.min(axis, shape.count))
                return part.reshaped(Shape(shape))
            }
            return apart.count == 1 ? apart[0] : concat(apart, axis: axis)
        }
        let type = try node.value(0).type
        return [
            .tensor(joined(results.map(\.sequence), axis: 1), type),
            .tensor(joined(results.map(\.hidden), axis: 0), type),
            .tensor(joined(results.map(\.cell), axis: 0), type),
        ]
    }

    private static func activations(
        _ node: NodeContext, _ standard: [String], _ directions: Int
    ) throws -> [[Recurrence.Activation]] {
        let whole = (0..<directions).flatMap { _ in standard }
        let names = try node.strings("activations") ?? whole
        guard names.count == whole.count, !node.has("activation_alpha"),
            !node.has("activation_beta")
        else { throw node.error("its activations are not supported") }
        let functions = try names.map { name -> Recurrence.Activation in
            switch name.lowercased() {
            case "sigmoid": { sigmoid($0) }
            case "tanh": { tanh($0) }
            case "relu": { relu($0) }
            default: throw node.error("the activation \(name.quoted) is not supported")
            }
        }
        return stride(from: 0, to: functions.count, by: standard.count).map {
            Array(functions[$0..<($0 + standard.count)])
        }
    }
}

/// The inputs of one direction of a layer.
private struct Direction {
    private let node: NodeContext
    private let kind: Recurrence.Kind
    private let index: Int
    private let count: Int
    private let x: Tensor

    init(
        _ node: NodeContext, _ kind: Recurrence.Kind, _ index: Int, of count: Int, _ x: Tensor
    ) throws {
        (self.node, self.index, self.count, self.x) = (node, index, count, x)
        // The attribute chooses PyTorch's rule.
        if case .gru(let reset, let update, let candidate, _) = kind {
            self.kind = .gru(
                reset: reset, update: update, candidate: candidate,
                resetsProduct: try node.flag("linear_before_reset"))
        } else {
            self.kind = kind
        }
    }

    func run(
        _ activations: [Recurrence.Activation], isReverse: Bool
    ) throws -> (sequence: Tensor, hidden: Tensor, cell: Tensor) {
        let (inputWeight, hiddenWeight) = (try part(1), try part(2))
        guard hiddenWeight.shape.rank == 2, x.shape.rank == 3 else {
            throw node.error("weights of \(hiddenWeight.shape) do not fit \(x.shape)")
        }
        let rows = hiddenWeight.shape[0]
        let bias = try node.optional(3).map { _ in try part(3) }
        if let bias, bias.shape != [2 * rows] {
            throw node.error("a bias of \(bias.shape) does not fit \(rows) rows")
        }
        let layer = Recurrence(
            kind, inputWeight: inputWeight, hiddenWeight: hiddenWeight,
            inputBias: bias?.sliced(axis: 0, 0..<rows),
            hiddenBias: bias?.sliced(axis: 0, rows..<(2 * rows)), gate: activations[0],
            candidate: activations[activations.count > 1 ? 1 : 0],
            output: activations[activations.count - 1])
        let state: Shape = [x.shape[1], hiddenWeight.shape[1]]
        let zero = x.graph.constant(0).broadcast(to: state)
        return try layer.run(
            x, hidden: try node.optional(5).map { _ in try part(5) } ?? zero,
            cell: try node.optional(6).map { _ in try part(6) } ?? zero, isReverse: isReverse)
    }

    /// The part of an input that belongs to this direction.
    private func part(_ input: Int) throws -> Tensor {
        let whole = try node.tensor(input)
        guard whole.shape.rank > 1, whole.shape[0] == count else {
            throw node.error(
                "its input \(input) of \(whole.shape) is not for \(count) directions",
                ONNXError.damaged)
        }
        return whole.sliced(axis: 0, index..<(index + 1))
            .reshaped(Shape(Array(whole.shape.dimensions.dropFirst())))
    }
}
