/// Adjusts palette codes so that the mean rounding error of each output channel is close to zero.
///
/// After a ReLU the inputs of a weight are not negative, so a channel whose rounding errors do not
/// cancel shifts its mean output. Elements nearly half-way between two table entries are rounded
/// the other way, which adds little squared error.
struct MeanPreservation {
    let grid: PaletteGrid
    /// The axis of the output channels.
    let axis: Int

    /// Rounding an element to the adjacent code instead.
    private struct Change {
        let index: Int
        let code: Int32
        /// The change of the element's value.
        let step: Float
        /// The increase of the squared error.
        let cost: Float
    }

    /// The code of each element.
    func codes(_ values: [Float]) -> [Int32] {
        var codes = grid.codes(values)
        let blocks = grid.blocks.blockOfEachElement
        for channel in members where !channel.isEmpty {
            var error: Float = 0
            for index in channel {
                error += grid.value(of: codes[index], block: blocks[index]) - values[index]
            }
            let changes = channel.compactMap { index in
                change(of: index, values[index], codes[index], blocks[index], against: error)
            }
            for change in changes.sorted(by: { $0.cost < $1.cost }) {
                // A step larger than twice the remaining error would increase it.
                guard abs(error + change.step) < abs(error) else { continue }
                error += change.step
                codes[change.index] = change.code
            }
        }
        return codes
    }

    /// The change to the adjacent code that reduces the channel's error; nil if there is none.
    private func change(
        of index: Int, _ value: Float, _ code: Int32, _ block: Int, against error: Float
    ) -> Change? {
        let next = code + (error > 0 ? -1 : 1)
        guard (0..<Int32(1) << Int32(grid.bits)).contains(next) else { return nil }
        let (old, new) = (
            grid.value(of: code, block: block), grid.value(of: next, block: block)
        )
        guard new != old else { return nil }
        let cost = (new - value) * (new - value) - (old - value) * (old - value)
        return Change(index: index, code: next, step: new - old, cost: cost)
    }

    /// The indices of each output channel's elements.
    private var members: [[Int]] {
        let shape = grid.blocks.shape
        let inner = shape[(axis + 1)...].reduce(1, *)
        var members = [[Int]](repeating: [], count: shape[axis])
        for index in 0..<shape.reduce(1, *) { members[index / inner % shape[axis]].append(index) }
        return members
    }
}
