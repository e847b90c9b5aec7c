/// Codes changed such that the errors of each output channel add up to nearly nothing.
///
/// What a weight is multiplied by is mostly above zero, behind a ReLU, so a channel whose errors add
/// up shifts as a whole. A few numbers that lie nearly half-way between two codes take the other one:
/// that costs hardly any squared error.
struct MeanPreservation {
    let grid: PaletteGrid
    /// The axis of the output channels.
    let axis: Int

    /// A number that could take the code beside its own.
    private struct Change {
        let index: Int
        let code: Int32
        /// How far the number moves by it, and what that adds to the squared error.
        let step: Float
        let cost: Float
    }

    func codes(_ values: [Float]) -> [Int32] {
        var codes = grid.codes(values)
        let blocks = grid.blocks.blockOfEach
        for channel in members where !channel.isEmpty {
            var error: Float = 0
            for index in channel {
                error += grid.value(of: codes[index], block: blocks[index]) - values[index]
            }
            let changes = channel.compactMap { index in
                change(of: index, values[index], codes[index], blocks[index], against: error)
            }
            for change in changes.sorted(by: { $0.cost < $1.cost }) {
                // Past half of a step, a further one would leave more than it takes away.
                guard abs(error + change.step) < abs(error) else { continue }
                error += change.step
                codes[change.index] = change.code
            }
        }
        return codes
    }

    /// The neighboring code that makes the channel's error smaller; nil where there is none.
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

    /// The places of each output channel's numbers.
    private var members: [[Int]] {
        let shape = grid.blocks.shape
        let inner = shape[(axis + 1)...].reduce(1, *)
        var members = [[Int]](repeating: [], count: shape[axis])
        for index in 0..<shape.reduce(1, *) { members[index / inner % shape[axis]].append(index) }
        return members
    }
}
