import RetintGraph
import RetintTensors

/// The division of a weight into blocks that share a scale or a lookup table: each axis is split
/// into equal runs.
struct WeightBlocks {
    let shape: [Int]
    /// The number of blocks along each axis.
    let groups: [Int]

    var count: Int { groups.reduce(1, *) }

    /// Calls `body` with each range of consecutive elements of one block, in memory order.
    func forEachRun(_ body: (_ range: Range<Int>, _ block: Int) -> Void) {
        let split = groups.lastIndex { $0 > 1 } ?? 0
        let inner = shape[(split + 1)...].reduce(1, *)
        let length = shape[split] / groups[split] * inner
        let (elementStrides, blockStrides) = (Shape(shape).strides, Shape(groups).strides)
        let total = shape.reduce(1, *)
        for start in stride(from: 0, to: total, by: max(length, 1)) {
            var block = 0
            for axis in 0...split {
                let index = start / elementStrides[axis] % shape[axis]
                block += index / (shape[axis] / groups[axis]) * blockStrides[axis]
            }
            body(start..<start + length, block)
        }
    }
}

extension WeightBlocks {
    /// The blocks of a weight.
    ///
    /// - Parameters:
    ///   - axes: the axes of the output and the input channels.
    ///   - size: the input channels per block, or the output channels per group.
    /// - Returns: nil if the number of channels is not a multiple of the size.
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
