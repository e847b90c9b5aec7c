import RetintGraph
import RetintTensors

// Operations that choose or move numbers, and means of neighbors.

extension BoundRules {
    /// Pooling and resizing: what holds for all pixels of a channel holds for its means and maxima.
    func pooled() -> BoundArray? {
        switch node.operation {
        case is MaxPool: return likeChannels(operands[0].perChannel)
        case let operation as AveragePool:
            let padding = operation.window.padding
            let sides = [padding.top, padding.bottom, padding.left, padding.right]
            let coversZeros = operation.countIncludePad && sides.contains { $0 > 0 }
            let x = operands[0].perChannel
            let terms = operation.kernel.height * operation.kernel.width
            return likeChannels(mean(coversZeros ? x.map { $0.hull(Bound(0)) } : x, of: terms))
        case is UpsampleBilinear:
            return likeChannels(mean(operands[0].perChannel, of: 8), error: 0x1p-20)
        case is UpsampleNearest: return likeChannels(operands[0].perChannel, error: 0)
        default: return nil
        }
    }

    private func mean(_ x: BoundArray, of terms: Int) -> BoundArray {
        x.map { rounded($0, terms: terms + 1, magnitude: $0.both.magnitude) }
    }

    /// - Parameter error: that of the sum of channels, if the result is a mean of pixels.
    private func likeChannels(_ x: BoundArray, error: Double? = nil) -> BoundArray {
        var result = BoundArray(shape: shape, extents: x.extents, elements: x.elements)
        if let error, var shares = operands[0].shares, shares.axis == 1 {
            shares.error += error
            result.shares = shares
        }
        return result
    }

    func moved() -> BoundArray? {
        switch node.operation {
        case is Reshape: return reshaped()
        case let operation as Transpose: return transposed(operation.permutation)
        case is Broadcast: return broadcast()
        case let operation as Concat: return concatenated(operation.axis)
        case let operation as Slice: return sliced(operation)
        case let operation as Pad: return padded(operation)
        case let operation as PixelShuffle: return shuffled(operation.factor)
        case let operation as PixelUnshuffle: return unshuffled(operation.factor)
        case is GatherElements: return gathered()
        default: return nil
        }
    }

    private func transposed(_ permutation: [Int]) -> BoundArray {
        let x = operands[0]
        let extents = permutation.map { x.extents[$0] }
        let strides = permutation.map { x.strides[$0] }
        var places = [0]
        for (extent, step) in zip(extents, strides) {
            places = places.flatMap { base in (0..<extent).map { base + $0 * step } }
        }
        return BoundArray(
            shape: shape, extents: extents, elements: places.map { x.elements[$0] })
    }

    private func broadcast() -> BoundArray {
        let added = [Int](repeating: 1, count: shape.count - operands[0].extents.count)
        return BoundArray(
            shape: shape, extents: added + operands[0].extents, elements: operands[0].elements)
    }

    /// One bound for all elements that an index may choose.
    private func gathered() -> BoundArray? {
        let x = operands[0].hull
        let isFixed = constants[1] != nil
        let error = isFixed ? x.error : .infinity
        return BoundArray(
            shape: shape, Bound(exact: x.exact, computed: x.computed, error: error).tightened)
    }

    private func sliced(_ slice: Slice) -> BoundArray {
        let x = operands[0]
        let extents = x.extents.indices.map { x.extents[$0] == 1 ? 1 : shape[$0] }
        var places = [0]
        for axis in extents.indices {
            let step = x.strides[axis]
            places = places.flatMap { base in
                (0..<extents[axis]).map {
                    base + (slice.begin[axis] + $0 * slice.stride[axis]) * step
                }
            }
        }
        return BoundArray(shape: shape, extents: extents, elements: places.map { x.elements[$0] })
    }

    private func padded(_ pad: Pad) -> BoundArray {
        let value = Bound(Double(pad.value))
        let axes = pad.before.indices.filter { pad.before[$0] + pad.after[$0] > 0 }
        let joined = operands[0].joined(along: axes).map { $0.hull(value) }
        return BoundArray(shape: shape, extents: joined.extents, elements: joined.elements)
    }
}

// MARK: Joining

extension BoundRules {
    private func concatenated(_ axis: Int) -> BoundArray {
        let axis = axis < 0 ? axis + shape.count : axis
        var extents = [Int](repeating: 1, count: shape.count)
        for operand in operands {
            for (index, extent) in operand.extents.enumerated() {
                extents[index] = max(extents[index], extent)
            }
        }
        extents[axis] = shape[axis]
        guard Shape(extents).count <= BoundArray.mostElements else { return hull(along: axis) }
        let outer = extents[..<axis].reduce(1, *)
        let parts = operands.map { operand in
            var own = extents
            own[axis] = operand.shape[axis]
            return operand.expanded(to: own).elements
        }
        let elements = (0..<outer).flatMap { index in
            parts.flatMap { part in
                let size = part.count / outer
                return part[index * size..<(index + 1) * size]
            }
        }
        return BoundArray(shape: shape, extents: extents, elements: elements)
    }

    private func hull(along axis: Int) -> BoundArray {
        let bound = operands.map(\.hull).reduce(operands[0].hull) { $0.hull($1) }
        return BoundArray(shape: shape, bound)
    }

    /// Channels c·f² … become channel c.
    private func shuffled(_ factor: Int) -> BoundArray {
        let x = operands[0].perChannel
        guard x.elements.count > 1 else { return likeChannels(x) }
        let size = factor * factor
        let elements = stride(from: 0, to: x.elements.count, by: size).map { start in
            x.elements[start..<start + size].dropFirst().reduce(x.elements[start]) { $0.hull($1) }
        }
        return perChannel(elements, of: x)
    }

    private func unshuffled(_ factor: Int) -> BoundArray {
        let x = operands[0].perChannel
        guard x.elements.count > 1 else { return likeChannels(x) }
        let size = factor * factor
        return perChannel(x.elements.flatMap { [Bound](repeating: $0, count: size) }, of: x)
    }

    private func perChannel(_ elements: [Bound], of x: BoundArray) -> BoundArray {
        var extents = x.extents
        extents[1] = elements.count
        return BoundArray(shape: shape, extents: extents, elements: elements)
    }
}

// MARK: Reshaping

extension BoundRules {
    /// Axes are split and joined in blocks of the same number of elements. The bounds of a block
    /// are kept apart as far as its axes stay what they are.
    private func reshaped() -> BoundArray? {
        let x = operands[0]
        var result = x
        var (extents, isKept) = ([Int](), true)
        for block in AxisBlock.all(x.shape, shape) {
            let own = block.from.map { x.extents[$0] }
            let isShared = own.allSatisfy { $0 == 1 }
            let isWhole = own == block.from.map { x.shape[$0] }
            if isShared {
                extents += block.to.map { _ in 1 }
            } else if isWhole {
                extents += block.to.map { shape[$0] }
            } else {
                // Some axes of the block share bounds: all have to be apart.
                var larger = result.extents
                for axis in block.from { larger[axis] = x.shape[axis] }
                isKept = isKept && Shape(larger).count <= BoundArray.mostElements
                guard isKept else { break }
                result = result.expanded(to: larger)
                extents += block.to.map { shape[$0] }
            }
        }
        guard isKept else { return BoundArray(shape: shape, x.hull) }
        return BoundArray(shape: shape, extents: extents, elements: result.elements)
    }
}

/// Neighboring axes of two shapes with the same number of elements.
private struct AxisBlock {
    var from: [Int] = []
    var to: [Int] = []

    static func all(_ old: [Int], _ new: [Int]) -> [AxisBlock] {
        var (blocks, block) = ([AxisBlock](), AxisBlock())
        var (first, second, i, j) = (1, 1, 0, 0)
        while i < old.count || j < new.count {
            if first == second, !(block.from.isEmpty && block.to.isEmpty) {
                blocks.append(block)
                block = AxisBlock()
                (first, second) = (1, 1)
            }
            if j >= new.count || i < old.count && first <= second {
                first *= old[i]
                block.from.append(i)
                i += 1
            } else {
                second *= new[j]
                block.to.append(j)
                j += 1
            }
        }
        return blocks + [block]
    }
}
