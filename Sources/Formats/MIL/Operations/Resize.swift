import RetintGraph
import RetintMLPackage

/// `resize_bilinear` and, by integer factors, `resize_nearest_neighbor`; `resize` is either.
enum Resize: MILRaisable {
    static let milTypes = ["resize", "resize_bilinear", "resize_nearest_neighbor"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let size = try size(operation, x)
        let sampling = try operation.string("sampling_mode", default: "DEFAULT")
        let interpolation = try operation.string("interpolation_mode", default: "LINEAR")
        if operation.type == "resize_nearest_neighbor" || interpolation == "NEAREST_NEIGHBOR" {
            guard ["DEFAULT", "UNALIGN_CORNERS"].contains(sampling) else {
                throw operation.error(
                    "the sampling mode \"\(sampling)\" of nearest neighbors is not supported")
            }
            return [upsampleNearest(x, factor: try operation.factor(x, to: size))]
        }
        let grids: [String: Resampling.Grid] = [
            "DEFAULT": .legacy, "UNALIGN_CORNERS": .halfPixels,
            "STRICT_ALIGN_CORNERS": .alignedCorners,
        ]
        guard let grid = grids[sampling] else {
            throw operation.error("the sampling mode \"\(sampling)\" is not supported")
        }
        return [try operation.bilinear(x, to: size, grid)]
    }

    private static func size(_ operation: RaisedOperation, _ x: Tensor) throws -> Pair {
        guard operation.type == "resize" else {
            return Pair(
                try operation.integer("target_size_height"),
                try operation.integer("target_size_width"))
        }
        try operation.requireImage(x)
        let count = try operation.integer("resized_dims")
        let stated = try operation.requiredIntegers("shape")
        guard count == 2, stated.count >= 2 else {
            throw operation.error("only the last two dimensions can be resized, not \(count)")
        }
        // 0 keeps a dimension.
        let sides = zip(stated.suffix(2), x.shape.dimensions.suffix(2)).map { $0 == 0 ? $1 : $0 }
        return Pair(sides[0], sides[1])
    }
}

/// `resample`: an image at the coordinates of a grid.
enum Resample: MILRaisable {
    static let milTypes = ["resample"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let aligned = try operation.bool("align_corners", default: false)
        let sampling = GridSampling(
            mode: try mode(operation), outside: try outside(operation, aligned),
            coordinates: try coordinates(operation, aligned))
        return [
            try sampling.sampled(operation.tensor("x"), operation.tensor("coordinates"))
        ]
    }

    private static func mode(_ operation: RaisedOperation) throws -> GridSampling.Mode {
        switch try operation.string("sampling_mode", default: "") {
        case "bilinear": .bilinear
        case "nearest": .nearest
        case let mode: throw operation.error("the sampling mode \"\(mode)\" is not supported")
        }
    }

    private static func outside(
        _ operation: RaisedOperation, _ aligned: Bool
    ) throws -> GridSampling.Outside {
        switch try operation.string("padding_mode", default: "") {
        case "constant": return .value(try operation.float("padding_value", default: 0))
        case "border": return .border
        // Without the border pixels if corners are aligned, as coremltools writes PyTorch's.
        case "reflection" where aligned, "symmetric" where !aligned: return .reflection
        case let mode:
            throw operation.error(
                "the padding mode \"\(mode)\" with align_corners \(aligned) is not supported")
        }
    }

    private static func coordinates(
        _ operation: RaisedOperation, _ aligned: Bool
    ) throws -> GridSampling.Coordinates {
        switch try operation.string("coordinates_mode", default: "") {
        case "unnormalized": .pixels(alignCorners: aligned)
        case "normalized_minus_one_to_one": .normalized(alignCorners: aligned)
        case "normalized_zero_to_one": .unit(alignCorners: aligned)
        case let mode: throw operation.error("the coordinates \"\(mode)\" are not supported")
        }
    }
}
