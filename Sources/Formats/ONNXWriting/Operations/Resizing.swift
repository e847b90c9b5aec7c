import RetintMLPackage

/// Resizing of images. Coordinates depend on both sizes in MIL, on the factor in ONNX: unless
/// it is an integer, ONNX is told the size.
enum Resizing: OperationFamily {
    static let forms: [String: Form] = [
        "upsample_bilinear": { operation in
            let alignsCorners = try operation.bool("align_corners", default: true)
            let halfPixels = try operation.bool("half_pixel_centers", default: !alignsCorners)
            let grid = alignsCorners ? "align_corners" : halfPixels ? "half_pixel" : "asymmetric"
            try operation.scale(linear(grid))
        },
        "upsample_nearest_neighbor": { try $0.scale(nearest) },
        "resize_bilinear": { operation in
            let mode = try operation.string("sampling_mode", default: "DEFAULT")
            guard let grid = grids[mode] else {
                throw operation.error("the sampling mode \"\(mode)\" is not supported")
            }
            try operation.resize(to: operation.targetSize(), linear(grid))
        },
        "resize_nearest_neighbor": { operation in
            try operation.resize(to: operation.targetSize(), nearest)
        },
    ]

    private static let grids = [
        "DEFAULT": "asymmetric", "UNALIGN_CORNERS": "half_pixel",
        "STRICT_ALIGN_CORNERS": "align_corners",
    ]

    private static func linear(_ grid: String) -> Sampling {
        Sampling(
            isLinear: true,
            attributes: ["mode": "linear", "coordinate_transformation_mode": .string(grid)])
    }

    private static var nearest: Sampling {
        Sampling(
            isLinear: false,
            attributes: [
                "mode": "nearest", "coordinate_transformation_mode": "asymmetric",
                "nearest_mode": "floor",
            ])
    }
}

/// How an element of the larger image follows from those of the smaller one.
private struct Sampling {
    let isLinear: Bool
    /// Those of the node.
    let attributes: Attributes
}

extension TranslatedOperation {
    /// Resizes by factors.
    fileprivate func scale(_ sampling: Sampling) throws {
        let factors = try ["height", "width"].map {
            try float("scale_factor_\($0)", default: 1)
        }
        guard factors.allSatisfy({ (1...0x1p12).contains($0) && $0 == $0.rounded() }) else {
            let size = type.dimensions.suffix(2).compactMap(\.self)
            guard size.count == 2 else {
                throw error("factors \(factors) need an image of known size")
            }
            return try resize(to: size, sampling)
        }
        let scales = try constant(.floats(try leading().map { _ in 1 } + factors), "scales")
        let x = try tensor("x")
        result("Resize", [x, try absent("roi"), scales], sampling.attributes)
    }

    fileprivate func targetSize() throws -> [Int] {
        try ["height", "width"].map { try integer("target_size_\($0)") }
    }

    /// Resizes to a height and a width. The nearest neighbor of other factors than integers is not
    /// documented.
    fileprivate func resize(to size: [Int], _ sampling: Sampling) throws {
        let leading = try leading().compactMap(\.self)
        let source = try type(of: "x").dimensions.suffix(2)
        guard leading.count == (try type(of: "x").rank - 2), size.allSatisfy({ $0 > 0 }) else {
            throw error("resizing to \(size) needs known batch and channels")
        }
        let isWhole = zip(size, source).allSatisfy { size, source in
            source.map { $0 > 0 && size.isMultiple(of: $0) } ?? false
        }
        guard sampling.isLinear || isWhole else {
            throw error("\(source) to \(size) is not an upsampling by integer factors")
        }
        let sizes = try integers(leading + size, "sizes")
        let inputs = [try tensor("x"), try absent("roi"), try absent("scales"), sizes]
        result("Resize", inputs, sampling.attributes)
    }

    /// The dimensions before height and width.
    private func leading() throws -> [Int?] {
        let x = try type(of: "x")
        guard x.rank >= 3 else { throw error("images are needed, not \(x)") }
        return x.dimensions.dropLast(2)
    }

    /// An omitted input: before opset 13, an empty tensor.
    private func absent(_ word: String) throws -> String {
        opset >= 13 ? "" : try constant(.floats([], shape: [0]), word)
    }
}
