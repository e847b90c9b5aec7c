import RetintGraph
import RetintTensors

/// Expresses each operation that only moves elements as one view of the memory that has them.
///
/// However many operations lie between, elements are moved once; and not at all if the view has
/// them in the order that the result has in memory.
package struct MovementComposition: GraphPass, Sendable {
    package static let name = "compose movements"
    /// What applies an operation that can read views; nil for one that cannot.
    package typealias ViewReader = @Sendable (Graph, any Operation, [StridedValue]) -> Tensor?
    private let readViews: ViewReader

    package init(readingViews: @escaping ViewReader = { _, _, _ in nil }) {
        readViews = readingViews
    }

    package func run(on input: GraphPassInput) -> GraphPassResult {
        GraphRewrite.run(on: input) { graph, operation, inputs in
            readViews(graph, operation, inputs.map { StridedValue($0) })
                ?? (operation as? any MovementOperation)?.moved(StridedValue(inputs[0]))
                ?? graph.apply(operation, inputs)
        }
    }
}

/// An operation whose result is a view of its input with other strides.
package protocol MovementOperation: MovingOperation {
    /// Where the result's elements are if the input's are at `input`; nil if no strides have them
    /// in that order.
    func moved(_ input: Strides) -> Strides?

    /// The order of the input's axes in which elements have to be moved to memory if no strides
    /// have them in the result's order; nil for the order that they have.
    func order(of input: Shape) -> [Int]?
}

extension MovementOperation {
    package func order(of input: Shape) -> [Int]? { nil }

    fileprivate func moved(_ input: StridedValue) -> Tensor? {
        if let strides = moved(input.strides) { return input.with(strides).value }
        let shape = input.strides.shape
        let permutation = order(of: shape) ?? Array(0..<shape.rank)
        let moved = input.with(input.strides.permuted(permutation)).rowMajor
        let inverse = permutation.indices.map { axis in permutation.firstIndex(of: axis) ?? axis }
        return self.moved(moved.strides.permuted(inverse)).map { moved.with($0).value }
    }
}

/// A value whose elements are in the memory of another one.
package struct StridedValue {
    package let source: Tensor
    package let strides: Strides

    package init(source: Tensor, strides: Strides) {
        (self.source, self.strides) = (source, strides)
    }

    /// What a view reads; or a value in its own memory.
    package init(_ value: Tensor) {
        let node = value.graph.nodes[value.id]
        if let view = node.operation as? AsStrided {
            self.init(
                source: Tensor(graph: value.graph, id: node.inputs[0]), strides: view.strides)
        } else {
            self.init(source: value, strides: Strides(value.shape))
        }
    }

    /// Its elements in row-major order in the memory of a value of its own.
    package var rowMajor: Self {
        let shape = strides.shape
        guard let view = strides.reshaped(Layout.rowMajor(shape)) else {
            preconditionFailure("an axis of 1 changes no strides")
        }
        return Self(source: with(view).value, strides: Strides(rowMajor: shape))
    }

    package func with(_ strides: Strides) -> Self { Self(source: source, strides: strides) }

    package var value: Tensor {
        strides == Strides(source.shape) ? source : source.applying(AsStrided(strides: strides))
    }
}

extension Broadcast: MovementOperation {
    package func moved(_ input: Strides) -> Strides? { input.broadcast(to: shape) }
}

extension Reshape: MovementOperation {
    package func moved(_ input: Strides) -> Strides? { input.reshaped(shape) }

    /// That of the result's axes in memory, if each of them consists of whole axes of the input.
    package func order(of input: Shape) -> [Int]? {
        var (groups, axis) = ([[Int]](), 0)
        for extent in shape.dimensions {
            var (group, covered) = ([Int](), 1)
            while axis < input.rank, covered < extent || input[axis] == 1 {
                covered *= input[axis]
                group.append(axis)
                axis += 1
            }
            guard covered == extent else { return nil }
            groups.append(group)
        }
        guard axis == input.rank else { return nil }
        return Layout.axes(rank: shape.rank).flatMap { groups[$0] }
    }
}

extension Slice: MovementOperation {
    package func moved(_ input: Strides) -> Strides? {
        input.sliced(from: begin, stride: stride, shape: partShape)
    }
}

extension Transpose: MovementOperation {
    package func moved(_ input: Strides) -> Strides? { input.permuted(permutation) }
}
