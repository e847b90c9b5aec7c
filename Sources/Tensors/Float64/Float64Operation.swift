import RetintGraph
import RetintTensors

/// An operation that states what it computes, in float64.
///
/// Values are row-major, so images are NCHW, whatever the engine does inside.
protocol Float64Operation: Operation {
    /// The elements of the result, whose shape is `shape`.
    func float64(_ inputs: [Float64Array], shape: Shape) throws -> [Double]
}

/// An operation that computes new numbers, in steps that may be those of a device's arithmetic.
/// Others only move numbers, or are rounded once, at the end.
protocol SteppedOperation: Float64Operation {
    /// The elements of the result, whose shape is `shape`.
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double]
}

extension SteppedOperation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        values(inputs, shape: shape, .exact)
    }
}

/// An operation without inputs: its values are its own, or those of whoever evaluates.
protocol Float64Source: Operation {
    func values(from feeds: Float64Feeds) throws -> [Double]?
}

/// Row-major numbers with a shape.
package struct Float64Array: Sendable {
    package let shape: Shape
    package var values: [Double]

    package subscript(index: Int) -> Double { values[index] }

    /// The values in float32.
    package var rounded: TensorData {
        TensorData(shape: shape, scalars: values.map { Float($0) })
    }
}

/// Where the elements of `shape`, counted row-major, lie in memory walked with `strides`.
func offsets(_ shape: [Int], strides: [Int], start: Int = 0) -> [Int] {
    var result = [start]
    for (extent, stride) in zip(shape, strides) {
        var next: [Int] = []
        next.reserveCapacity(result.count * extent)
        for base in result {
            for index in 0..<extent { next.append(base + index * stride) }
        }
        result = next
    }
    return result
}
