internal import Foundation
package import RetintTensors

// Elements at positions that a network computes. Positions are floats, which are exact below 2²⁴.

/// For each element of the indices, the element of x at that position of one axis, and at its own
/// positions of the others (`torch.gather`). Inputs: x, indices. Negative indices count from the
/// end.
package struct GatherElements: HostOperation {
    package static let name = "gather"
    package let axis: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        try requireIndices(inputs[1], of: inputs[0], axis)
        return inputs[1]
    }

    package func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        let (x, indices) = (inputs[0], inputs[1])
        var result = [Float](repeating: 0, count: indices.scalars.count)
        try eachPosition(indices, in: x.shape, axis) { element, position in
            result[element] = x.scalars[position]
        }
        return TensorData(shape: indices.shape, scalars: result)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [
            backward.ifNeeded(0) {
                x.graph.apply(
                    ScatterElements(axis: axis, shape: x.shape),
                    [backward.gradient, backward.inputs[1]])
            }, nil,
        ]
    }
}

/// Zeros of `shape` with each element of x added at the position of one axis that the indices state
/// (`torch.scatter_add`). Inputs: x, indices.
package struct ScatterElements: HostOperation {
    package static let name = "scatter_add"
    package let axis: Int
    package let shape: Shape

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        try requireIndices(inputs[1], of: shape, axis)
        try require(inputs[0] == inputs[1], "each element needs an index")
        return shape
    }

    package func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        let (x, indices) = (inputs[0], inputs[1])
        var result = [Float](repeating: 0, count: shape.count)
        try eachPosition(indices, in: shape, axis) { element, position in
            result[position] += x.scalars[element]
        }
        return TensorData(shape: shape, scalars: result)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let indices = backward.inputs[1]
        return [
            indices.graph.apply(GatherElements(axis: axis), [backward.gradient, indices]), nil,
        ]
    }
}

/// The positions of the largest elements along one axis, the largest first (`torch.topk`). Among
/// equal elements the first ones are taken, and NaN is larger than all.
package struct TopIndices: HostOperation {
    package static let name = "topk"
    package let axis: Int
    package let count: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let axes = try normalizedAxes([axis], rank: inputs[0].rank)
        try require(
            axes == [axis] && (1...inputs[0][axis]).contains(count),
            "\(count) elements cannot be taken from axis \(axis) of \(inputs[0])")
        var dimensions = inputs[0].dimensions
        dimensions[axis] = count
        return Shape(dimensions)
    }

    package func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        let x = inputs[0]
        let shape = try outputShape(for: [x.shape])
        let size = x.shape[axis]
        let inner = x.shape.dimensions[(axis + 1)...].reduce(1, *)
        var result = [Float](repeating: 0, count: shape.count)
        for row in 0..<(x.shape.count / size) {
            let start = row / inner * size * inner + row % inner
            let first = row / inner * count * inner + row % inner
            for (place, index) in largest(x.scalars, from: start, size, by: inner).enumerated() {
                result[first + place * inner] = Float(index)
            }
        }
        return TensorData(shape: shape, scalars: result)
    }

    private func largest(_ x: [Float], from start: Int, _ size: Int, by step: Int) -> [Int] {
        func key(_ index: Int) -> Float {
            let value = x[start + index * step]
            return value.isNaN ? .infinity : value
        }
        if count == 1 {
            return [(1..<size).reduce(0) { key($1) > key($0) ? $1 : $0 }]
        }
        let order = (0..<size).sorted { a, b in
            let (first, second) = (key(a), key(b))
            return first == second ? a < b : first > second
        }
        return Array(order.prefix(count))
    }

    package func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}

/// The longest axis whose positions are exact as floats.
private let longestAxis = 1 << 24

/// The part of the indices' rules that gathering and scattering share.
private func requireIndices(_ indices: Shape, of x: Shape, _ axis: Int) throws(ShapeError) {
    try require(
        indices.rank == x.rank && (0..<x.rank).contains(axis)
            && (0..<x.rank).allSatisfy { $0 == axis || indices[$0] <= x[$0] },
        "indices of \(indices) do not fit axis \(axis) of \(x)")
    try require(x[axis] <= longestAxis, "axis \(axis) of \(x) is above \(longestAxis)")
}

/// Calls `body` with each element of the indices and the element of a tensor of `shape` it names.
private func eachPosition(
    _ indices: TensorData, in shape: Shape, _ axis: Int, _ body: (Int, Int) -> Void
) throws {
    let (strides, size) = (shape.strides, shape[axis])
    let dimensions = indices.shape.dimensions
    var place = [Int](repeating: 0, count: dimensions.count)
    var base = 0
    for (element, index) in indices.scalars.enumerated() {
        guard index.rounded() == index, index >= Float(-size), index < Float(size) else {
            throw ShapeError("index \(index) is out of range for axis \(axis) of \(shape)")
        }
        let position = index < 0 ? Int(index) + size : Int(index)
        body(element, base + position * strides[axis])
        // The next place, as an odometer counts.
        var at = dimensions.count - 1
        while at >= 0 {
            let step = at == axis ? 0 : strides[at]
            place[at] += 1
            base += step
            if place[at] < dimensions[at] { break }
            base -= step * dimensions[at]
            place[at] = 0
            at -= 1
        }
    }
}

/// For each element of `indices`, the element of `x` at that position of `axis` and at its own
/// positions of the others (`torch.gather`). Negative indices count from the end.
///
/// A run of the program throws for indices out of range.
public func gather(_ x: Tensor, axis: Int, indices: Tensor) -> Tensor {
    x.graph.apply(GatherElements(axis: axis < 0 ? axis + x.shape.rank : axis), [x, indices])
}

/// The slices of `x` at positions of `axis` (`torch.index_select`, and `torch.nn.functional
/// .embedding` for axis 0), where `indices` may have any shape, which takes the axis's place.
public func indexSelect(_ x: Tensor, axis: Int, indices: Tensor) -> Tensor {
    let axis = axis < 0 ? axis + x.shape.rank : axis
    guard x.shape.dimensions.indices.contains(axis) else {
        let error = ShapeError("axis \(axis) is out of range for rank \(x.shape.rank)")
        x.graph.record(error, GatherElements.name, [x.shape])
        return x
    }
    let outer = Array(x.shape.dimensions.prefix(axis))
    let inner = Array(x.shape.dimensions.dropFirst(axis + 1))
    let count = indices.shape.count
    // As a matrix of rows, so that the indices are repeated along two axes at most.
    let (before, after) = (outer.reduce(1, *), inner.reduce(1, *))
    let rows = x.reshaped([before, x.shape.count / max(1, before * after), after])
    let wanted = indices.reshaped([1, count, 1]).broadcast(to: [before, count, after])
    return gather(rows, axis: 1, indices: wanted)
        .reshaped(Shape(outer + indices.shape.dimensions + inner))
}

/// The positions of the `count` largest elements along `axis`, the largest first
/// (`torch.topk(…).indices`); ``gather(_:axis:indices:)`` takes their values.
public func topIndices(_ x: Tensor, _ count: Int, axis: Int) -> Tensor {
    x.applying(TopIndices(axis: axis < 0 ? axis + x.shape.rank : axis, count: count))
}

/// `data` with `updates` added at positions of `axis` (`torch.scatter_add`): each element of
/// `updates` has an index, and its own positions of the other axes.
public func scatterAdd(_ data: Tensor, axis: Int, indices: Tensor, _ updates: Tensor) -> Tensor {
    data + scattered(updates, axis, indices, data.shape)
}

/// `data` with elements replaced by `updates` (`torch.scatter`), as
/// ``scatterAdd(_:axis:indices:_:)`` adds them; an element with several updates becomes their mean.
public func scatter(_ data: Tensor, axis: Int, indices: Tensor, _ updates: Tensor) -> Tensor {
    let ones = data.graph.constant(1).broadcast(to: updates.shape)
    let count = scattered(ones, axis, indices, data.shape)
    let mean = scattered(updates, axis, indices, data.shape) / maximum(count, count.scalar(1))
    return select(count, mean, data)
}

private func scattered(_ x: Tensor, _ axis: Int, _ indices: Tensor, _ shape: Shape) -> Tensor {
    let axis = axis < 0 ? axis + shape.rank : axis
    return x.graph.apply(ScatterElements(axis: axis, shape: shape), [x, indices])
}
