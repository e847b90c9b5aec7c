import CRetintKernels
import RetintCompiler
import RetintGraph

/// The tiles of a convolution by Winograd's algorithm, and the layout of the values computed from
/// them, shared by the convolution and its weight gradient.
struct WinogradTiles {
    let geometry: rt_winograd
    /// Groups of tiles, over the whole batch.
    let groups: Int
    let perGroup: Int
    /// Elements from tile to tile of the transformed inputs.
    let stride: Int
    /// The format of the transformed inputs.
    let format: rt_format
    private let positions: Int
    /// Elements between positions, so that these do not fall on the same cache sets.
    private static let gap = 16

    init(_ tiling: WinogradTiling, _ format: rt_format) {
        self.format = format
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

    /// The transformed inputs of `tiles` tiles: elements from one position to the next.
    func inputStride(_ tiles: Int) -> Int { tiles * stride + Self.gap }
    /// The transformed inputs of `tiles` tiles: floats of all positions.
    func inputCount(_ tiles: Int) -> Int {
        positions * inputStride(tiles) * format.size / MemoryLayout<Float>.size
    }

    /// One panel of `tiles` tiles, of products or of transformed gradients: floats from one
    /// position to the next.
    func productStride(_ tiles: Int) -> Int { tiles * panelWidth + Self.gap }
    /// One panel of `tiles` tiles: floats of all positions.
    func productCount(_ tiles: Int) -> Int { positions * productStride(tiles) }

    /// Transforms the inputs of the tiles `range`, counted from group `group` on.
    ///
    /// - Parameters:
    ///   - target: where the first tile is written.
    ///   - step: elements from one position to the next.
    ///   - scale: the factor for 16-bit values.
    func transformInputs(
        _ x: Buffer, _ group: Int, _ range: Range<Int>, into target: UnsafeMutableRawPointer,
        _ step: Int, scale: Float
    ) {
        withUnsafePointer(to: geometry) { geometry in
            rt_winograd_input(
                target, step, x.pointer, geometry, group, range.lowerBound, range.upperBound,
                format, scale)
        }
    }

    /// Where a tile of the transformed inputs is.
    func tile(_ tile: Int, of inputs: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        inputs + tile * stride * format.size
    }
}
