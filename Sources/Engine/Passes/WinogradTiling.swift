import CKernels
import TensorGraph

/// How a convolution is cut into tiles, and how large what is computed on the way is.
struct WinogradTiling: Hashable {
    let batch: Int
    private let input, output: Shape
    private let top, left, dilation: Int
    let tile: Int

    /// - Parameter tile: the side of a tile in outputs, 2 or 4.
    /// - Returns: nil where the shapes do not allow it.
    init?(x: Shape, y: Shape, kernel: Pair, window: Window, tile: Int) {
        guard kernel == 3, window.stride == 1, window.dilation.width == window.dilation.height,
            x[1].isMultiple(of: 16), y[1].isMultiple(of: 16)
        else { return nil }
        (batch, input, output, dilation) = (x[0], x, y, window.dilation.height)
        (top, left) = (window.padding.top, window.padding.left)
        self.tile = tile
    }

    /// Roughly the work, in products for each output: direct convolution does 9. The transforms
    /// cost about a third more.
    var cost: Double {
        let span = tile * dilation
        let down = (output[2] + span - 1) / span
        let across = (output[3] + span - 1) / span
        let share = Double(down * across * span * span) / Double(output[2] * output[3])
        return 1.3 * Double(positions) / Double(tile * tile) * share
    }

    var geometry: rt_winograd {
        var g = rt_winograd()
        (g.height, g.width, g.channels) = (Int32(input[2]), Int32(input[3]), Int32(input[1]))
        (g.out_height, g.out_width) = (Int32(output[2]), Int32(output[3]))
        g.out_channels = Int32(output[1])
        (g.pad_top, g.pad_left) = (Int32(top), Int32(left))
        (g.dilation, g.tile) = (Int32(dilation), Int32(tile))
        rt_winograd_derive(&g)
        return g
    }

    var channels: Int { input[1] }
    var outputs: Int { output[1] }
    var positions: Int { (tile + 2) * (tile + 2) }
    var panels: Int { (outputs + panelWidth - 1) / panelWidth }
    /// Floats of one panel of transformed weights.
    var panelCount: Int { positions * channels * panelWidth }
    /// Floats that the transform of one panel needs besides.
    var scratchCount: Int { 9 * channels * panelWidth }

    /// The elements of the output that groups of tiles make up: whole rows, all channels.
    func elements(of groups: Range<Int>, _ g: rt_winograd) -> Range<Int> {
        let line = output[3] * outputs
        func start(_ group: Int) -> Int {
            let (image, place) = group.quotientAndRemainder(dividingBy: Int(g.groups_per_image))
            return (image * output[2] + min(place * tile * dilation, output[2])) * line
        }
        return start(groups.lowerBound)..<start(groups.upperBound)
    }
}
