import RetintGraph
import RetintTensors

/// `Resize` and its older form `Upsample`; images read at the positions of a grid.
enum Resizing: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Resize": OperationRule(parameters: [0]) { node in
            let x = try node.tensor(0)
            let axes =
                try node.integers("axes").map { try node.axes($0, rank: x.shape.rank) }
                ?? Array(0..<x.shape.rank)
            let plan = try ResizePlan(node, x.shape, axes)
            return [.tensor(try plan.resized(x), try node.value(0).type)]
        },
        "GridSample": OperationRule(parameters: [0]) { node in
            let aligned = try node.flag("align_corners")
            let modes: [String: GridSampling.Mode] = [
                "bilinear": .bilinear, "linear": .bilinear, "nearest": .nearest,
            ]
            let borders: [String: GridSampling.Outside] = [
                "zeros": .value(0), "border": .border, "reflection": .reflection,
            ]
            let mode = try node.string("mode", default: "linear")
            let border = try node.string("padding_mode", default: "zeros")
            guard let mode = modes[mode], let border = borders[border] else {
                throw node.error("the mode \(mode.plain) with \(border.plain) is not supported")
            }
            guard try node.tensor(0).shape.rank == 4 else {
                throw node.error("only images with two spatial dimensions are supported")
            }
            let sampling = GridSampling(
                mode: mode, outside: border, coordinates: .normalized(alignCorners: aligned))
            let y = try sampling.sampled(try node.tensor(0), try node.tensor(1))
            return [.tensor(y, try node.value(0).type)]
        },
        "AffineGrid": OperationRule(grid),
        "Upsample": OperationRule(parameters: [0]) { node in
            let x = try node.tensor(0)
            let scales: [Float]
            if node.optional(1) != nil {
                scales = try node.constant(1).floats ?? []
            } else if case .floats(let values) = node.node.attributes["scales"] {
                scales = values
            } else {
                throw node.error("it has no scales", ONNXError.damaged)
            }
            let plan = try ResizePlan(
                node, x.shape, Array(0..<x.shape.rank), scales: scales,
                mode: try node.string("mode", default: "nearest"), transform: "asymmetric",
                nearest: "floor")
            return [.tensor(try plan.resized(x), try node.value(0).type)]
        },
    ]
}

extension Resizing {
    /// The positions of an image's pixels, from −1 to 1, after an affine map
    /// (`torch.nn.functional.affine_grid`).
    @Sendable private static func grid(_ node: NodeContext) throws -> [ONNXValue] {
        let (maps, size) = (try node.tensor(0), try node.integers(1))
        guard size.count == 4 else {
            throw node.error("only images with two spatial dimensions are supported")
        }
        guard maps.shape == [size[0], 2, 3], size.allSatisfy({ $0 >= 1 }) else {
            throw node.error("maps of \(maps.shape) do not fit \(size)", ONNXError.damaged)
        }
        let (height, width) = (size[2], size[3])
        try node.takeHost([height, width, 3])
        let isAligned = try node.flag("align_corners")
        func place(_ index: Int, of count: Int) -> Float {
            guard isAligned else { return Float(2 * index + 1) / Float(count) - 1 }
            return count == 1 ? 0 : Float(2 * index) / Float(count - 1) - 1
        }
        let points: [Float] = (0..<height).flatMap { row -> [Float] in
            (0..<width).flatMap { [place($0, of: width), place(row, of: height), Float(1)] }
        }
        let table = try node.tensor(
            .host(ONNXTensor(floats: points, dimensions: [1, height * width, 3])))
        let all = table.broadcast(to: [size[0], height * width, 3])
        let y = matmul(all, maps, transposeY: true).reshaped([size[0], height, width, 2])
        return [.tensor(y, try node.value(0).type)]
    }
}

/// How each axis of a tensor is resized.
private struct ResizePlan {
    private struct Axis {
        let index: Int
        let size: Int
        /// Output elements per input element, as the coordinates use it.
        let scale: Float
    }

    private let node: NodeContext
    private let shape: Shape
    private var axes: [Axis] = []
    private let mode: String
    private let transform: String
    private let nearest: String

    /// - Parameter scales: for each of `axes`.
    init(
        _ node: NodeContext, _ shape: Shape, _ indices: [Int], scales: [Float], mode: String,
        transform: String, nearest: String
    ) throws {
        (self.node, self.shape) = (node, shape)
        (self.mode, self.transform, self.nearest) = (mode, transform, nearest)
        axes = try Self.scaled(node, shape, indices, scales)
        try check()
    }

    init(_ node: NodeContext, _ shape: Shape, _ indices: [Int]) throws {
        (self.node, self.shape) = (node, shape)
        mode = try node.string("mode", default: "nearest")
        transform =
            node.opset < 11
            ? "asymmetric"
            : try node.string("coordinate_transformation_mode", default: "half_pixel")
        nearest =
            node.opset < 11
            ? "floor" : try node.string("nearest_mode", default: "round_prefer_floor")
        // In opset 10 the scales are the second input; since 11 the region of interest is.
        let position = node.opset < 11 ? 1 : 2
        if let scales = try node.optionalConstant(position)?.floats, !scales.isEmpty {
            axes = try Self.scaled(node, shape, indices, scales)
        } else {
            axes = try Self.stretched(node, shape, indices, node.integers(3))
        }
        try check()
    }

    /// The axes for given scales.
    private static func scaled(
        _ node: NodeContext, _ shape: Shape, _ indices: [Int], _ scales: [Float]
    ) throws -> [Axis] {
        guard scales.count == indices.count else {
            throw node.error("\(scales.count) scales do not fit \(indices.count) axes")
        }
        return try zip(indices, scales).map { index, scale in
            let size = (Float(shape[index]) * scale).rounded(.down)
            guard size >= 1, size <= Float(Shape.maximumExtent) else {
                throw node.error("the scale \(scale) is out of range")
            }
            return Axis(index: index, size: Int(size), scale: scale)
        }
    }

    /// The axes for given sizes, which may be limits for one common scale.
    private static func stretched(
        _ node: NodeContext, _ shape: Shape, _ indices: [Int], _ sizes: [Int]
    ) throws -> [Axis] {
        guard sizes.count == indices.count,
            sizes.allSatisfy({ (1...Shape.maximumExtent).contains($0) })
        else { throw node.error("sizes of \(sizes.prefix(8)) do not fit \(shape)") }
        let scales = zip(indices, sizes).map { Float($1) / Float(shape[$0]) }
        let policy = try node.string("keep_aspect_ratio_policy", default: "stretch")
        let common: Float?
        switch policy {
        case "stretch": common = nil
        case "not_larger": common = scales.min()
        case "not_smaller": common = scales.max()
        default: throw node.error("the policy \(policy.plain) is not supported")
        }
        return try zip(indices, zip(sizes, scales)).map { index, own in
            guard let common else { return Axis(index: index, size: own.0, scale: own.1) }
            let size = Int((common * Float(shape[index])).rounded())
            guard (1...Shape.maximumExtent).contains(size) else {
                throw node.error("sizes of \(sizes.prefix(8)) do not fit \(shape)")
            }
            return Axis(index: index, size: size, scale: common)
        }
    }

    private func check() throws {
        guard ["nearest", "linear", "cubic"].contains(mode) else {
            throw node.error("the mode \(mode.plain) is not supported")
        }
        let transforms = [
            "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
            "asymmetric", "tf_half_pixel_for_nn",
        ]
        guard transforms.contains(transform) else {
            throw node.error("the coordinates \(transform.plain) are not supported")
        }
        let modes = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        guard modes.contains(nearest) else {
            throw node.error("the nearest_mode \(nearest.plain) is not supported")
        }
    }

    /// Uses the engine's upsampling where it is the same.
    func resized(_ x: Tensor) throws -> Tensor {
        let changed = axes.filter { $0.size != shape[$0.index] || $0.scale != 1 }
        // Packages for several sizes can state how often one element is repeated, but no scales.
        if !changed.isEmpty, changed.allSatisfy({ shape[$0.index] == 1 }) {
            var dimensions = shape.dimensions
            for axis in changed { dimensions[axis.index] = axis.size }
            return x.broadcast(to: Shape(dimensions))
        }
        if let factor = imageFactor(changed) {
            if mode == "nearest" { return upsampleNearest(x, factor: factor) }
            return upsampleBilinear(x, factor: factor, alignCorners: transform == "align_corners")
        }
        return try changed.reduce(x) { try resized($0, along: $1) }
    }

    /// Factors that the engine can upsample by; nil for other forms of resizing.
    private func imageFactor(_ changed: [Axis]) -> Pair? {
        let isWhole = changed.allSatisfy { axis in
            axis.index >= 2 && axis.size % shape[axis.index] == 0
        }
        guard shape.rank == 4, isWhole, !changed.isEmpty else { return nil }
        var factors = [1, 1]
        for axis in changed {
            let factor = axis.size / shape[axis.index]
            guard axis.scale == Float(factor) || transform == "align_corners",
                isEngineForm(axis, factor)
            else { return nil }
            factors[axis.index - 2] = factor
        }
        return Pair(factors[0], factors[1])
    }

    /// Whether the engine's upsampling takes the same elements with the same weights.
    private func isEngineForm(_ axis: Axis, _ factor: Int) -> Bool {
        switch mode {
        case "linear": ["half_pixel", "pytorch_half_pixel", "align_corners"].contains(transform)
        case "nearest" where ["half_pixel", "pytorch_half_pixel", "asymmetric"].contains(transform):
            // The pattern repeats after `factor` elements.
            factor <= Picking.maximumCount
                && (0..<factor).allSatisfy { index in
                    let source = nearestIndex(coordinate(factor + index, axis))
                    return source == 1
                }
        default: false
        }
    }

    private func clamped(_ index: Int, _ size: Int) -> Int {
        Swift.min(Swift.max(index, 0), size - 1)
    }

    /// The position in the input, in float32: where it is halfway between two elements, other
    /// programs take the same one.
    private func coordinate(_ index: Int, _ axis: Axis) -> Float {
        let (i, size) = (Float(index), Float(shape[axis.index]))
        let whole = size * axis.scale
        switch transform {
        case "asymmetric": return i / axis.scale
        case "tf_half_pixel_for_nn": return (i + 0.5) / axis.scale
        case "align_corners": return whole == 1 ? 0 : i * (size - 1) / (whole - 1)
        case "pytorch_half_pixel" where axis.size == 1: return -0.5
        case "half_pixel_symmetric":
            let adjustment = Float(axis.size) / whole
            return size / 2 * (1 - adjustment) + (i + 0.5) / axis.scale - 0.5
        default: return (i + 0.5) / axis.scale - 0.5
        }
    }

    private func nearestIndex(_ position: Float) -> Int {
        let rounded: Float
        switch nearest {
        case "floor": rounded = position.rounded(.down)
        case "ceil": rounded = position.rounded(.up)
        case "round_prefer_ceil": rounded = (position + 0.5).rounded(.down)
        default: rounded = (position - 0.5).rounded(.up)
        }
        return Int(rounded)
    }

    /// Resizes one axis: as a slice if the elements are equally far apart, else as a product.
    private func resized(_ x: Tensor, along axis: Axis) throws -> Tensor {
        let size = shape[axis.index]
        guard mode == "nearest" else {
            let filter = try InterpolationFilter(
                node, isCubic: mode == "cubic", scale: Double(axis.scale))
            return try node.product(x, axis: axis.index, to: axis.size) { index in
                filter.sources(Double(coordinate(index, axis)), size)
            }
        }
        let source = { clamped(nearestIndex(coordinate($0, axis)), size) }
        if let step = step(axis.size, source) {
            let slice = try Slicing.slice(
                .tensor(x, .float), axis: axis.index, from: source(0), count: axis.size, step: step,
                node)
            return try node.tensor(slice)
        }
        return try node.product(x, axis: axis.index, to: axis.size) { [(source($0), 1)] }
    }

    /// The distance between indices that are equally far apart; nil for others.
    private func step(_ count: Int, _ source: (Int) -> Int) -> Int? {
        guard count > 1 else { return 1 }
        let (first, step) = (source(0), source(1) - source(0))
        let isEven = step > 0 && (0..<count).allSatisfy { source($0) == first + $0 * step }
        return isEven ? step : nil
    }
}

/// The weights of the elements around a position.
private struct InterpolationFilter {
    private let isCubic: Bool
    /// The parameter of Keys' cubic convolution.
    private let a: Double
    /// Below 1, the filter widens by 1/scale, so that no element is skipped.
    private let scale: Double
    /// Whether elements outside are ignored; otherwise, the border element is repeated.
    private let excludesOutside: Bool

    init(_ node: NodeContext, isCubic: Bool, scale: Double) throws {
        self.isCubic = isCubic
        a = Double(try node.float("cubic_coeff_a", default: -0.75))
        self.scale = try node.flag("antialias") ? Swift.min(scale, 1) : 1
        excludesOutside = try node.flag("exclude_outside")
    }

    func sources(_ position: Double, _ size: Int) -> [(column: Int, weight: Double)] {
        let reach = (isCubic ? 2 : 1) / scale
        let columns = Int((position - reach).rounded(.up))...Int((position + reach).rounded(.down))
        var sources = columns.map { ($0, weight(Swift.abs(Double($0) - position) * scale)) }
        if excludesOutside { sources.removeAll { !(0..<size).contains($0.0) } }
        let sum = sources.reduce(0) { $0 + $1.1 }
        return sources.map { (Swift.min(Swift.max($0.0, 0), size - 1), $0.1 / sum) }
    }

    private func weight(_ d: Double) -> Double {
        guard isCubic else { return Swift.max(0, 1 - d) }
        if d <= 1 { return ((a + 2) * d - (a + 3)) * d * d + 1 }
        return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0
    }
}
