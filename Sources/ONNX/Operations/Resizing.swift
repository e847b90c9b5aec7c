import TensorGraph

/// `Resize` and its older form `Upsample`.
enum Resizing: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Resize": OperationRule { node in
            let x = try node.tensor(0)
            let axes = try node.integers("axes").map { try node.axes($0, rank: x.shape.rank) }
                ?? Array(0..<x.shape.rank)
            let plan = try ResizePlan(node, x.shape, axes)
            return [.tensor(try plan.resized(x), try node.value(0).type)]
        },
        "Upsample": OperationRule { node in
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

/// How each axis of a tensor is resized.
private struct ResizePlan {
    private struct Axis {
        let index: Int
        let size: Int
        /// Output elements per input element, as the coordinates use it.
        let scale: Double
    }

    private let node: NodeContext
    private let shape: Shape
    private var axes: [Axis] = []
    private let mode: String
    private let transform: String
    private let nearest: String

    /// The weights of all output elements are a matrix.
    private static let longestSide = 1 << 13

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
        transform = node.opset < 11
            ? "asymmetric"
            : try node.string("coordinate_transformation_mode", default: "half_pixel")
        nearest = node.opset < 11
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
            let size = (Double(shape[index]) * Double(scale)).rounded(.down)
            guard size >= 1, size <= Double(Shape.maximumExtent) else {
                throw node.error("the scale \(scale) is out of range")
            }
            return Axis(index: index, size: Int(size), scale: Double(scale))
        }
    }

    /// The axes for given sizes, which may be limits for one common scale.
    private static func stretched(
        _ node: NodeContext, _ shape: Shape, _ indices: [Int], _ sizes: [Int]
    ) throws -> [Axis] {
        guard sizes.count == indices.count,
            sizes.allSatisfy({ (1...Shape.maximumExtent).contains($0) })
        else { throw node.error("sizes of \(sizes.prefix(8)) do not fit \(shape)") }
        let scales = zip(indices, sizes).map { Double($1) / Double(shape[$0]) }
        let policy = try node.string("keep_aspect_ratio_policy", default: "stretch")
        let common: Double?
        switch policy {
        case "stretch": common = nil
        case "not_larger": common = scales.min()
        case "not_smaller": common = scales.max()
        default: throw node.error("the policy \(policy.plain) is not supported")
        }
        return zip(indices, zip(sizes, scales)).map { index, own in
            guard let common else { return Axis(index: index, size: own.0, scale: own.1) }
            let size = Int((common * Double(shape[index])).rounded())
            return Axis(index: index, size: Swift.max(1, size), scale: common)
        }
    }

    private func check() throws {
        guard try !node.flag("antialias") else { throw node.error("antialias is not supported") }
        guard try node.flag("exclude_outside") == false || mode == "cubic" else {
            throw node.error("exclude_outside is not supported with the mode \(mode.plain)")
        }
        guard ["nearest", "linear", "cubic"].contains(mode) else {
            throw node.error("the mode \(mode.plain) is not supported")
        }
        let transforms = [
            "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
            "asymmetric",
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
        guard !changed.isEmpty else { return x }
        for axis in changed where Swift.max(axis.size, shape[axis.index]) > Self.longestSide {
            guard imageFactor(changed) != nil else {
                throw node.error(
                    "resizing to or from more than \(Self.longestSide) elements is not supported")
            }
        }
        if let factor = imageFactor(changed) {
            if mode == "nearest" { return upsampleNearest(x, factor: factor) }
            return upsampleBilinear(x, factor: factor, alignCorners: transform == "align_corners")
        }
        return try changed.reduce(x) { try resized($0, along: $1) }
    }

    /// Factors that the engine enlarges images by; nil for other forms of resizing.
    private func imageFactor(_ changed: [Axis]) -> Pair? {
        guard shape.rank == 4, changed.allSatisfy({ $0.index >= 2 && $0.size % shape[$0.index] == 0 })
        else { return nil }
        var factors = [1, 1]
        for axis in changed {
            factors[axis.index - 2] = axis.size / shape[axis.index]
            let isExact = axis.scale == Double(factors[axis.index - 2])
            guard isExact || transform == "align_corners" else { return nil }
        }
        switch mode {
        case "linear" where ["half_pixel", "pytorch_half_pixel", "align_corners"].contains(transform):
            break
        case "nearest":
            let isRepeating = changed.allSatisfy { axis in
                let factor = axis.size / shape[axis.index]
                return (0..<axis.size).allSatisfy { sources(axis)($0)[0].place == $0 / factor }
            }
            guard isRepeating else { return nil }
        default: return nil
        }
        return Pair(factors[0], factors[1])
    }

    private typealias Source = (place: Int, weight: Double)

    /// The input elements and weights for an output element.
    private func sources(_ axis: Axis) -> (Int) -> [Source] {
        let size = shape[axis.index]
        return { index in
            let position = coordinate(index, axis)
            switch mode {
            case "nearest": return [(clamped(nearestPlace(position), size), 1)]
            case "linear":
                let limited = Swift.min(Swift.max(position, 0), Double(size - 1))
                let low = Int(limited)
                let share = limited - Double(low)
                return [(low, 1 - share), (clamped(low + 1, size), share)]
            default: return cubic(position, size)
            }
        }
    }

    private func clamped(_ place: Int, _ size: Int) -> Int { Swift.min(Swift.max(place, 0), size - 1) }

    private func coordinate(_ index: Int, _ axis: Axis) -> Double {
        let (i, size) = (Double(index), Double(shape[axis.index]))
        let whole = size * axis.scale
        switch transform {
        case "asymmetric": return i / axis.scale
        case "align_corners": return whole == 1 ? 0 : i * (size - 1) / (whole - 1)
        case "pytorch_half_pixel" where axis.size == 1: return -0.5
        case "half_pixel_symmetric":
            let adjustment = Double(axis.size) / whole
            return size / 2 * (1 - adjustment) + (i + 0.5) / axis.scale - 0.5
        default: return (i + 0.5) / axis.scale - 0.5
        }
    }

    private func nearestPlace(_ position: Double) -> Int {
        let place: Double
        switch nearest {
        case "floor": place = position.rounded(.down)
        case "ceil": place = position.rounded(.up)
        case "round_prefer_ceil": place = (position + 0.5).rounded(.down)
        default: place = (position - 0.5).rounded(.up)
        }
        return Int(place)
    }

    /// Keys' cubic convolution.
    private func cubic(_ position: Double, _ size: Int) -> [Source] {
        let a = Double((try? node.float("cubic_coeff_a", default: -0.75)) ?? -0.75)
        let low = position.rounded(.down)
        let excludes = (try? node.flag("exclude_outside")) ?? false
        var sources: [Source] = (-1...2).map { step in
            let d = Swift.abs(position - (low + Double(step)))
            let weight = d <= 1
                ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
            return (Int(low) + step, weight)
        }
        if excludes {
            sources = sources.filter { (0..<size).contains($0.place) }
            let sum = sources.reduce(0) { $0 + $1.weight }
            sources = sources.map { ($0.place, $0.weight / sum) }
        }
        return sources.map { (clamped($0.place, size), $0.weight) }
    }

    /// Resizes one axis: by slices if there are few, else as a product with a matrix.
    private func resized(_ x: Tensor, along axis: Axis) throws -> Tensor {
        let size = shape[axis.index]
        let all = (0..<axis.size).map(sources(axis))
        if mode == "nearest", let step = step(all.map { $0[0].place }) {
            let value = ONNXValue.tensor(x, .float)
            return try node.tensor(
                Slicing.slice(
                    value, axis: axis.index, from: all[0][0].place, count: axis.size, step: step,
                    node))
        }
        var weights = [Float](repeating: 0, count: axis.size * size)
        for (row, sources) in all.enumerated() {
            for source in sources { weights[row * size + source.place] += Float(source.weight) }
        }
        let matrix = x.graph.constant(TensorData(shape: [axis.size, size], scalars: weights))
        var order = Array(0..<x.shape.rank)
        order.swapAt(axis.index, x.shape.rank - 1)
        guard x.shape.rank > 1 else {
            return matmul(x.reshaped([1, size]), matrix, transposeY: true).reshaped([axis.size])
        }
        guard axis.index != x.shape.rank - 1 else { return matmul(x, matrix, transposeY: true) }
        return matmul(x.transposed(order), matrix, transposeY: true).transposed(order)
    }

    /// The distance between places that are equally far apart; nil for others.
    private func step(_ places: [Int]) -> Int? {
        guard places.count > 1 else { return 1 }
        let step = places[1] - places[0]
        let isEven = zip(places, places.dropFirst()).allSatisfy { $1 - $0 == step }
        return isEven && step > 0 ? step : nil
    }
}
