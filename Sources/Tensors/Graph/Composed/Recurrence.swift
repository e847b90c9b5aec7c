package import RetintTensors

/// One direction of a recurrent layer (`torch.nn.LSTM`, `GRU` and `RNN`), a step after the other.
package struct Recurrence {
    /// The kind of the layer, with the places of its gates among the rows of the weights.
    package enum Kind: Hashable, Sendable {
        case plain
        case lstm(input: Int, forget: Int, cell: Int, output: Int)
        /// - Parameter resetsProduct: whether the reset gate multiplies the product of the hidden
        ///   state, as in PyTorch, instead of the state.
        case gru(reset: Int, update: Int, candidate: Int, resetsProduct: Bool)

        /// The number of gates.
        package var gates: Int {
            switch self {
            case .plain: 1
            case .lstm: 4
            case .gru: 3
            }
        }
    }

    package typealias Activation = (Tensor) -> Tensor

    package let kind: Kind
    /// Of the gates, the candidate state and, in an LSTM, the output.
    package let gate, candidate, output: Activation
    /// [gates·units, inputs] and [gates·units, units].
    package let inputWeight, hiddenWeight: Tensor
    /// [gates·units]
    package let inputBias, hiddenBias: Tensor?

    package init(
        _ kind: Kind, inputWeight: Tensor, hiddenWeight: Tensor, inputBias: Tensor? = nil,
        hiddenBias: Tensor? = nil, gate: @escaping Activation = { sigmoid($0) },
        candidate: @escaping Activation = { tanh($0) }, output: @escaping Activation = { tanh($0) }
    ) {
        self.kind = kind
        (self.inputWeight, self.hiddenWeight) = (inputWeight, hiddenWeight)
        (self.inputBias, self.hiddenBias) = (inputBias, hiddenBias)
        (self.gate, self.candidate, self.output) = (gate, candidate, output)
    }

    /// The longest sequence: each step adds operations to the graph.
    package static let longestSequence = 4096

    private var units: Int { hiddenWeight.shape[1] }

    /// The hidden states of all steps, [steps, N, units], and the last hidden and cell states, [N,
    /// units].
    ///
    /// - Parameters:
    ///   - x: [steps, N, inputs].
    ///   - hidden: the first hidden state, [N, units].
    ///   - cell: the first state of the cells of an LSTM, [N, units].
    ///   - isReverse: whether the last step is computed first.
    package func run(
        _ x: Tensor, hidden: Tensor, cell: Tensor, isReverse: Bool
    ) throws(ShapeError) -> (sequence: Tensor, hidden: Tensor, cell: Tensor) {
        try check(x, hidden, cell)
        let (steps, batch) = (x.shape[0], x.shape[1])
        // What the inputs contribute, for all steps at once.
        let given = linear(
            x.reshaped([steps * batch, x.shape[2]]), weight: inputWeight, bias: inputBias)
        var (h, c) = (hidden, cell)
        var states: [Tensor] = []
        for index in 0..<steps {
            let step = isReverse ? steps - 1 - index : index
            let rows = given.sliced(axis: 0, (step * batch)..<((step + 1) * batch))
            (h, c) = next(rows, h, c)
            states.append(h.reshaped([1, batch, units]))
        }
        if isReverse { states.reverse() }
        return (states.count == 1 ? states[0] : concat(states, axis: 0), h, c)
    }

    private func check(_ x: Tensor, _ hidden: Tensor, _ cell: Tensor) throws(ShapeError) {
        try require(
            x.shape.rank == 3 && (1...Self.longestSequence).contains(x.shape[0]),
            "\(x.shape) is not a sequence of at most \(Self.longestSequence) steps")
        let (w, r) = (inputWeight.shape, hiddenWeight.shape)
        try require(
            w.rank == 2 && r.rank == 2 && w[1] == x.shape[2] && w[0] == r[0]
                && r[0] == kind.gates * r[1],
            "weights of \(w) and \(r) do not fit each other and an input of \(x.shape)")
        let state: Shape = [x.shape[1], units]
        try require(
            hidden.shape == state && cell.shape == state,
            "states of \(hidden.shape) and \(cell.shape) are not \(state)")
    }

    private func next(_ given: Tensor, _ h: Tensor, _ c: Tensor) -> (Tensor, Tensor) {
        let recurrent = linear(h, weight: hiddenWeight, bias: hiddenBias)
        switch kind {
        case .plain: return (candidate(given + recurrent), c)
        case .lstm(let input, let forget, let cell, let output):
            let sum = given + recurrent
            let state =
                gate(part(sum, forget)) * c + gate(part(sum, input)) * candidate(part(sum, cell))
            return (gate(part(sum, output)) * self.output(state), state)
        case .gru(let reset, let update, let new, let resetsProduct):
            let r = gate(part(given, reset) + part(recurrent, reset))
            let z = gate(part(given, update) + part(recurrent, update))
            let inner = resetsProduct ? r * part(recurrent, new) : product(r * h, new)
            let state = candidate(part(given, new) + inner)
            return ((1 - z) * state + z * h, c)
        }
    }

    /// The product of a state with one gate's weights.
    private func product(_ h: Tensor, _ gate: Int) -> Tensor {
        let rows = (gate * units)..<((gate + 1) * units)
        return linear(
            h, weight: hiddenWeight.sliced(axis: 0, rows),
            bias: hiddenBias?.sliced(axis: 0, rows))
    }

    /// The columns of one gate.
    private func part(_ x: Tensor, _ gate: Int) -> Tensor {
        x.sliced(axis: 1, (gate * units)..<((gate + 1) * units))
    }
}
