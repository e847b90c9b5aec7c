import TensorGraph

/// A weight in blocks of one scale or table: each axis is divided into equal runs.
struct WeightBlocks {
    let shape: [Int]
    /// Blocks along each axis.
    let groups: [Int]

    var count: Int { groups.reduce(1, *) }

    /// Calls with each stretch of elements that lie together in one block, in order.
    func forEachRun(_ body: (_ range: Range<Int>, _ block: Int) -> Void) {
        let split = groups.lastIndex { $0 > 1 } ?? 0
        let inner = shape[(split + 1)...].reduce(1, *)
        let length = shape[split] / groups[split] * inner
        let (inside, strides) = (Shape(shape).strides, Shape(groups).strides)
        let total = shape.reduce(1, *)
        for start in stride(from: 0, to: total, by: max(length, 1)) {
            var block = 0
            for axis in 0...split {
                let place = start / inside[axis] % shape[axis]
                block += place / (shape[axis] / groups[axis]) * strides[axis]
            }
            body(start..<start + length, block)
        }
    }
}

extension WeightBlocks {
    /// The blocks of a weight.
    ///
    /// - Parameters:
    ///   - axes: those of the output and the input channels; nil where there are none.
    ///   - size: input channels of a block, or output channels of a group.
    /// - Returns: nil where the size does not divide the channels.
    init?(
        _ shape: [Int], _ granularity: QuantizationScheme.Granularity,
        axes: (output: Int, input: Int), size: Int
    ) {
        var groups = [Int](repeating: 1, count: shape.count)
        switch granularity {
        case .perTensor: break
        case .perChannel: groups[axes.output] = shape[axes.output]
        case .perBlock:
            guard shape[axes.input].isMultiple(of: size) else { return nil }
            groups[axes.output] = shape[axes.output]
            groups[axes.input] = shape[axes.input] / size
        case .perGroup:
            guard shape[axes.output].isMultiple(of: size) else { return nil }
            groups[axes.output] = shape[axes.output] / size
        }
        (self.shape, self.groups) = (shape, groups)
    }
}
