import RetintGraph
import RetintTensors

/// An operation that says in plain double precision what it computes.
///
/// Values are row-major, so pictures are NCHW, whatever the engine does inside.
protocol ReferenceOperation: Operation {
    /// The elements of the result, whose shape is `shape`.
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double]
}

/// An operation without inputs: its values are its own or come from whoever evaluates.
protocol ReferenceSource: Operation {
    func values(from feeds: ReferenceFeeds) -> [Double]?
}

/// Row-major numbers with a shape.
struct ReferenceArray: Sendable {
    let shape: Shape
    var values: [Double]

    subscript(index: Int) -> Double { values[index] }
}

/// Where the elements of `shape`, counted row-major, lie in memory walked with `strides`.
func offsets(_ shape: [Int], strides: [Int], start: Int = 0) -> [Int] {
    var result = [start]
    for (extent, stride) in zip(shape, strides) {
        result = result.flatMap { base in (0..<extent).map { base + $0 * stride } }
    }
    return result
}
