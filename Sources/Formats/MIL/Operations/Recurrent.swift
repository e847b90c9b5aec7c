import RetintGraph
import RetintMLPackage
import RetintTensors

/// `lstm`, `gru` and `rnn`.
enum Recurrent: MILRaisable {
    static let milTypes = ["gru", "lstm", "rnn"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        for parameter in ["peephole", "peephole_back", "clip", "reset_after", "input_bias"]
        where operation.has(parameter) {
            throw operation.error("its parameter \(parameter) is not supported")
        }
        let passes = try passes(operation)
        let results = try passes.enumerated().map { index, pass in
            try run(operation, pass.suffix, isReverse: pass.isReverse, index, of: passes.count)
        }
        func joined(_ parts: [Tensor]) -> Tensor {
            parts.count == 1 ? parts[0] : concat(parts, axis: parts[0].shape.rank - 1)
        }
        let last = joined(results.map(\.hidden))
        let isWhole = try operation.bool("output_sequence", default: false)
        let sequence =
            isWhole
            ? joined(results.map(\.sequence))
            : last.reshaped(Shape([1] + last.shape.dimensions))
        return operation.type == "lstm"
            ? [sequence, last, joined(results.map(\.cell))] : [sequence, last]
    }

    private static func passes(
        _ operation: RaisedOperation
    ) throws -> [(suffix: String, isReverse: Bool)] {
        switch try operation.string("direction", default: "forward") {
        case "forward": [("", false)]
        case "reverse": [("", true)]
        case "bidirectional" where operation.type == "lstm": [("", false), ("_back", true)]
        case let other: throw operation.error("the direction \"\(other)\" is not supported")
        }
    }

    private static func run(
        _ operation: RaisedOperation, _ suffix: String, isReverse: Bool, _ index: Int, of count: Int
    ) throws -> (sequence: Tensor, hidden: Tensor, cell: Tensor) {
        let x = try operation.tensor("x")
        // Each step adds operations to the graph.
        if let steps = x.shape.dimensions.first { try operation.values.take(steps * 4096) }
        let isLSTM = operation.type == "lstm"
        let kinds: [String: Recurrence.Kind] = [
            "lstm": .lstm(input: 0, forget: 1, cell: 3, output: 2),
            "gru": .gru(reset: 0, update: 2, candidate: 1, resetsProduct: true),
        ]
        let layer = Recurrence(
            kinds[operation.type] ?? .plain,
            inputWeight: try operation.tensor("weight_ih\(suffix)"),
            hiddenWeight: try operation.tensor("weight_hh\(suffix)"),
            inputBias: try operation.optionalTensor("bias\(suffix)"),
            gate: try activation(operation, "recurrent_activation", default: "sigmoid"),
            candidate: try activation(
                operation, isLSTM ? "cell_activation" : "activation", default: "tanh"),
            output: try activation(operation, "activation", default: "tanh"))
        let hidden = try state(operation, "initial_h", index, of: count)
        let cell = isLSTM ? try state(operation, "initial_c", index, of: count) : hidden
        return try layer.run(x, hidden: hidden, cell: cell, isReverse: isReverse)
    }

    /// The part of an initial state that one direction has.
    private static func state(
        _ operation: RaisedOperation, _ parameter: String, _ index: Int, of count: Int
    ) throws -> Tensor {
        let whole = try operation.tensor(parameter)
        guard whole.shape.rank == 2, whole.shape[1] % count == 0 else {
            throw operation.error("\(parameter) of \(whole.shape) is not supported")
        }
        let size = whole.shape[1] / count
        return count == 1 ? whole : whole.sliced(axis: 1, (index * size)..<((index + 1) * size))
    }

    private static func activation(
        _ operation: RaisedOperation, _ parameter: String, default standard: String
    ) throws -> (Tensor) -> Tensor {
        switch try operation.string(parameter, default: standard) {
        case "sigmoid": { sigmoid($0) }
        case "tanh": { tanh($0) }
        case "relu": { relu($0) }
        case "linear": { $0 }
        case "scaled_tanh": { tanh($0 * (2.0 / 3)) * 1.7159 }
        case "hard_sigmoid", "sigmoid_hard": { clip($0 * 0.2 + 0.5, min: 0, max: 1) }
        case let name: throw operation.error("the activation \"\(name)\" is not supported")
        }
    }
}
