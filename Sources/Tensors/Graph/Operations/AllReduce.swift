package import RetintTensors

/// An operation that exchanges messages with the other ranks of the program's job.
package protocol RankOperation: Operation {
    /// How many ranks the job has to have.
    var ranks: Int { get }

    /// A description of the messages; all ranks must exchange them in the same order.
    ///
    /// - Parameter count: of the elements of the result.
    func message(of count: Int) -> String
}

/// Packs tensors into a bucket, and starts to sum it over all ranks: [N] in the engine's order of
/// elements, each tensor at its place in ``BucketLayout``.
///
/// With compression, values are rounded to float16 for sending; each rank adds its rounding error
/// to the next step's values (error feedback; Seide et al., "1-Bit Stochastic Gradient Descent",
/// 2014): each tensor has one more input, the previous rounding errors, and the result is [2N],
/// the sums followed by the new rounding errors.
///
/// The result may be read only by ``AllReduceFinish``.
package struct AllReduceStart: RankOperation {
    package static let name = "all_reduce_start"
    /// How many ranks there are.
    package let ranks: Int
    /// Different for each bucket of a graph.
    package let channel: Int
    package let compresses: Bool

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try require(!inputs.isEmpty, "takes at least one input")
        guard compresses else { return [BucketLayout(inputs).count] }
        let tensors = Array(inputs.prefix(inputs.count / 2))
        try require(
            tensors + tensors == inputs, "rounding errors must have the shapes of the tensors")
        return [2 * BucketLayout(tensors).count]
    }

    package func message(of count: Int) -> String { "\(name) \(channel) of \(count)" }
}

/// Waits for the sums of a bucket.
package struct AllReduceFinish: RankOperation {
    package static let name = "all_reduce_finish"
    /// How many ranks there are.
    package let ranks: Int
    package let channel: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return inputs[0]
    }

    package func message(of count: Int) -> String { "\(name) \(channel)" }
}

/// A tensor in a bucket.
package struct BucketPart: Operation {
    package static let name = "bucket_part"
    package let shape: Shape
    /// Its first element.
    package let offset: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try require(
            inputs[0].rank == 1 && offset + shape.count <= inputs[0].count,
            "a part of shape \(shape) at \(offset) exceeds the bucket")
        return shape
    }
}

/// The places of tensors in a bucket.
package struct BucketLayout {
    /// The first element of each, a multiple of a cache line.
    package let offsets: [Int]
    /// The elements of the bucket.
    package let count: Int

    private static let alignment = 16

    package init(_ shapes: [Shape]) {
        var (offsets, count) = ([Int](), 0)
        for shape in shapes {
            offsets.append(count)
            count += (shape.count + Self.alignment - 1) / Self.alignment * Self.alignment
        }
        (self.offsets, self.count) = (offsets, count)
    }
}

/// Tensors whose sums over all ranks are in progress.
package struct Bucket {
    private let values: Tensor
    private let shapes: [Shape]
    private let layout: BucketLayout
    private let start: AllReduceStart

    /// Starts to sum tensors of one graph.
    ///
    /// - Parameters:
    ///   - residuals: the rounding errors of each, for compression; nil for no compression.
    ///   - ranks: how many there are.
    package init(
        _ tensors: [Tensor], residuals: [Tensor]? = nil, over ranks: Int, channel: Int
    ) {
        start = AllReduceStart(ranks: ranks, channel: channel, compresses: residuals != nil)
        shapes = tensors.map(\.shape)
        layout = BucketLayout(shapes)
        values = tensors[0].graph.apply(start, tensors + (residuals ?? []))
    }

    /// The sums.
    package var sums: [Tensor] { parts(at: 0) }

    /// The new rounding errors of each tensor.
    package var losses: [Tensor] { parts(at: layout.count) }

    private func parts(at first: Int) -> [Tensor] {
        let sums = values.applying(AllReduceFinish(ranks: start.ranks, channel: start.channel))
        return zip(shapes, layout.offsets).map {
            sums.applying(BucketPart(shape: $0, offset: first + $1))
        }
    }
}
