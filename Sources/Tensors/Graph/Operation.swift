public import RetintTensors

/// The computation of a node of a ``Graph``: a pure function of its inputs, with its attributes as
/// stored properties.
///
/// Equal operations on equal inputs become one node, so the attributes must determine the result.
/// A custom operation adopts ``HostOperation``, or is a function that combines others: a
/// program cannot be compiled if the engine has no kernel for an operation.
public protocol Operation: Hashable, Sendable {
    /// The name in messages and reports; PyTorch's if there is one.
    static var name: String { get }

    /// The shape of the result for inputs of these shapes.
    ///
    /// - Throws: ``ShapeError`` if the operation cannot be applied to such inputs.
    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape

    /// The gradient of the loss with respect to each input, as operations of the same graph.
    ///
    /// - Returns: for each input a tensor of its shape, or nil if it has no gradient or
    ///   ``Backward/needed`` says that none is needed.
    /// - Throws: ``ShapeError`` if the operation cannot be differentiated, as it does by default.
    func gradients(_ backward: Backward) throws(ShapeError) -> [Tensor?]
}

/// The arguments of a gradient rule.
public struct Backward {
    /// The inputs of the operation.
    public let inputs: [Tensor]
    /// Its result.
    public let output: Tensor
    /// The gradient of the loss with respect to `output`.
    public let gradient: Tensor
    /// For each input, whether its gradient is needed.
    public let needed: [Bool]

    /// The gradient of the input at `index` if it is needed; nil otherwise.
    public func ifNeeded(_ index: Int, _ rule: () -> Tensor) -> Tensor? {
        needed[index] ? rule() : nil
    }
}

extension Operation {
    /// The name in messages and reports.
    public var name: String { Self.name }

    /// Throws: an operation without a gradient rule cannot be differentiated.
    public func gradients(_ backward: Backward) throws(ShapeError) -> [Tensor?] {
        throw ShapeError("has no gradient; keep it out of what is differentiated")
    }
}

/// Checks the number of an operation's inputs.
package func requireInputs(
    _ inputs: [Shape], _ allowed: ClosedRange<Int>
) throws(ShapeError) {
    try require(
        allowed.contains(inputs.count),
        "takes \(allowed.lowerBound)…\(allowed.upperBound) inputs, got \(inputs.count)")
}

/// Checks the rank of an input.
package func requireRank(
    _ shape: Shape, _ rank: Int, _ what: String = "input"
) throws(ShapeError) {
    try require(shape.rank == rank, "\(what) must have rank \(rank), has shape \(shape)")
}

/// The axes of a tensor of `rank`, counted from the start, sorted.
///
/// - Parameter axes: negative ones count from the end.
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
