/// What a node of a ``Graph`` computes: a pure function of its inputs, with its attributes as
/// stored properties.
///
/// Two equal operations on equal inputs are one node, so an operation must be its attributes and
/// nothing else.
public protocol Operation: Hashable, Sendable {
    /// The name that messages and reports use; PyTorch's where it has one.
    static var name: String { get }

    /// The shape of the result for inputs of these shapes, or the rule that they break.
    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape

    /// The gradient of the loss with respect to each input, as more operations of the same graph;
    /// `nil` where an input has none. Inputs that ``Backward/needed`` leaves out may be skipped.
    func gradients(_ backward: Backward) throws(ShapeError) -> [Tensor?]
}

/// What a gradient rule may use.
public struct Backward {
    public let inputs: [Tensor]
    public let output: Tensor
    /// The gradient of the loss with respect to `output`.
    public let gradient: Tensor
    /// For each input, whether anybody asks for its gradient.
    public let needed: [Bool]

    /// The gradient for the input at `index` if it is needed; skips the work otherwise.
    package func ifNeeded(_ index: Int, _ rule: () -> Tensor) -> Tensor? {
        needed[index] ? rule() : nil
    }
}

extension Operation {
    public var name: String { Self.name }

    public func gradients(_ backward: Backward) throws(ShapeError) -> [Tensor?] {
        throw ShapeError("has no gradient; keep it out of what is differentiated")
    }
}

/// Checks how many inputs an operation got.
package func requireInputs(
    _ inputs: [Shape], _ allowed: ClosedRange<Int>
) throws(ShapeError) {
    try require(
        allowed.contains(inputs.count),
        "takes \(allowed.lowerBound)…\(allowed.upperBound) inputs, got \(inputs.count)")
}

package func requireRank(
    _ shape: Shape, _ rank: Int, _ what: String = "input"
) throws(ShapeError) {
    try require(shape.rank == rank, "\(what) must have rank \(rank), has shape \(shape)")
}

/// Turns possibly negative axes into sorted, distinct axes of a tensor of `rank`.
package func normalizedAxes(_ axes: [Int], rank: Int) throws(ShapeError) -> [Int] {
    var result: Set<Int> = []
    for axis in axes {
        let positive = axis < 0 ? axis + rank : axis
        try require(
            positive >= 0 && positive < rank, "axis \(axis) is out of range for rank \(rank)")
        try require(result.insert(positive).inserted, "axis \(axis) is named twice")
    }
    return result.sorted()
}
