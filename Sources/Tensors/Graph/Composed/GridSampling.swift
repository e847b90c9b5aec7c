package import RetintTensors

/// `torch.nn.functional.grid_sample` of images: x, [N, C, H, W], at the coordinates of a grid, [N,
/// H′, W′, 2], of which the first is horizontal.
package struct GridSampling {
    package enum Mode: Hashable, Sendable { case bilinear, nearest }

    /// What a position outside the image has.
    package enum Outside: Hashable, Sendable {
        case value(Float)
        /// The nearest pixel.
        case border
        /// The image mirrored at its border: at the centers of the outermost pixels if corners are
        /// aligned, else at their outer edges.
        case reflection
        /// The image repeated.
        case wrapped
    }

    /// Which coordinates the grid has.
    package enum Coordinates: Hashable, Sendable {
        /// −1 and 1 are the centers of the outermost pixels, or with `alignCorners` false their
        /// outer edges.
        case normalized(alignCorners: Bool)
        /// 0 and 1 instead of −1 and 1.
        case unit(alignCorners: Bool)
        /// Pixels, with 0 at the center of the first.
        case pixels(alignCorners: Bool)
    }

    package var mode: Mode
    package var outside: Outside
    package var coordinates: Coordinates

    package init(mode: Mode, outside: Outside, coordinates: Coordinates) {
        (self.mode, self.outside, self.coordinates) = (mode, outside, coordinates)
    }

    /// x at the grid's coordinates, [N, C, H′, W′].
    package func sampled(_ x: Tensor, _ grid: Tensor) throws(ShapeError) -> Tensor {
        try require(
            x.shape.rank == 4 && grid.shape.rank == 4 && grid.shape[3] == 2
                && grid.shape[0] == x.shape[0],
            "a grid of \(grid.shape) does not fit images of \(x.shape)")
        let columns = position(grid.sliced(axis: 3, 0..<1), x.shape[3])
        let rows = position(grid.sliced(axis: 3, 1..<2), x.shape[2])
        switch mode {
        case .nearest: return pixels(x, round(rows), round(columns))
        case .bilinear:
            let (top, left) = (floor(rows), floor(columns))
            let (down, right) = (rows - top, columns - left)
            let corners = [
                (top, left, (1 - down) * (1 - right)), (top, left + 1, (1 - down) * right),
                (top + 1, left, down * (1 - right)), (top + 1, left + 1, down * right),
            ]
            let parts = corners.map { row, column, share in
                pixels(x, row, column) * share.transposed([0, 3, 1, 2])
            }
            return parts[0] + parts[1] + parts[2] + parts[3]
        }
    }

    /// A coordinate in pixels. Borders and mirrors apply to it, as in PyTorch, before it is split.
    private func position(_ grid: Tensor, _ size: Int) -> Tensor {
        let extent = Float(size)
        var aligned = false
        var position: Tensor
        switch coordinates {
        case .pixels(let alignCorners): (aligned, position) = (alignCorners, grid)
        case .normalized(let alignCorners):
            aligned = alignCorners
            position =
                aligned ? (grid + 1) * ((extent - 1) / 2) : ((grid + 1) * extent - 1) * 0.5
        case .unit(let alignCorners):
            aligned = alignCorners
            position = aligned ? grid * (extent - 1) : grid * extent - 0.5
        }
        switch outside {
        case .border: position = clip(position, min: 0, max: extent - 1)
        case .reflection:
            position = clip(
                mirrored(
                    position, from: aligned ? 0 : -0.5, to: aligned ? extent - 1 : extent - 0.5),
                min: 0, max: extent - 1)
        case .value, .wrapped: break
        }
        return position
    }

    /// x mirrored at two places until it lies between them.
    private func mirrored(_ x: Tensor, from low: Float, to high: Float) -> Tensor {
        let span = high - low
        guard span > 0 else { return x * 0 + low }
        let distance = abs(x - low)
        let period = distance - floor(distance / (2 * span)) * (2 * span)
        return span - abs(period - span) + low
    }

    /// The pixels at whole rows and columns, [N, H′, W′, 1].
    private func pixels(_ x: Tensor, _ rows: Tensor, _ columns: Tensor) -> Tensor {
        let (height, width) = (x.shape[2], x.shape[3])
        let row = inside(rows, height)
        let column = inside(columns, width)
        let shape = rows.shape
        let count = shape[1] * shape[2]
        let indices = (row * Float(width) + column).reshaped([shape[0], 1, count])
            .broadcast(to: [shape[0], x.shape[1], count])
        let flat = x.reshaped([x.shape[0], x.shape[1], height * width])
        let values = gather(flat, axis: 2, indices: indices)
            .reshaped([shape[0], x.shape[1], shape[1], shape[2]])
        guard case .value(let constant) = outside else { return values }
        let known = (equal(row, rows) * equal(column, columns)).transposed([0, 3, 1, 2])
        return constant == 0 ? values * known : values * known + (1 - known) * constant
    }

    /// A whole position inside the image.
    private func inside(_ position: Tensor, _ size: Int) -> Tensor {
        let extent = Float(size)
        if case .wrapped = outside { return position - floor(position / extent) * extent }
        return clip(position, min: 0, max: extent - 1)
    }
}
