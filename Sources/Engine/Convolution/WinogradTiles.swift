import CKernels
import TensorGraph

/// The tiles of a convolution in Winograd's form and the layout of what is computed from them:
/// what the convolution and its weight gradient share.
struct WinogradTiles {
    let geometry: rt_winograd
    /// Groups of tiles, over the whole batch.
    let groups: Int
    let perGroup: Int
    /// Floats from tile to tile of the transformed inputs.
    let stride: Int
    private let positions: Int
    /// Floats between positions, so that these do not fall on the same cache sets.
    private static let gap = 16

    init(_ tiling: WinogradTiling) {
        geometry = tiling.geometry
        groups = tiling.batch * Int(geometry.groups_per_image)
        perGroup = Int(geometry.tiles_per_group)
        stride = Int(geometry.stride)
        positions = tiling.positions
    }

    /// The groups, a number of them at a time.
    func chunks(of count: Int) -> [Range<Int>] {
        Swift.stride(from: 0, to: groups, by: count).map { $0..<min($0 + count, groups) }
    }

    /// The transformed inputs of `tiles` tiles: floats from one position to the next.
    func inputStride(_ tiles: Int) -> Int { tiles * stride + Self.gap }
    /// The transformed inputs of `tiles` tiles: floats of all positions.
    func inputCount(_ tiles: Int) -> Int { positions * inputStride(tiles) }

    /// One panel of `tiles` tiles, of products or of transformed gradients: floats from one
    /// position to the next.
    func productStride(_ tiles: Int) -> Int { tiles * panelWidth + Self.gap }
    /// One panel of `tiles` tiles: floats of all positions.
    func productCount(_ tiles: Int) -> Int { positions * productStride(tiles) }

    /// Transforms the inputs of the tiles `range`, counted from group `group` on.
    ///
    /// - Parameters:
    ///   - target: where tile 0 of the group is written, if it is in `range`.
    ///   - step: floats from one position to the next.
    func transformInputs(
        _ x: Buffer, _ group: Int, _ range: Range<Int>, into target: UnsafeMutablePointer<Float>,
        _ step: Int
    ) {
        withUnsafePointer(to: geometry) { geometry in
            rt_winograd_input(
                target + range.lowerBound * stride, step, x.pointer, geometry, group,
                range.lowerBound, range.upperBound)
        }
    }
}
