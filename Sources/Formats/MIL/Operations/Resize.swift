import RetintGraph
import RetintMLPackage

/// `resize_bilinear`, and `resize_nearest_neighbor` by integer factors.
enum Resize: MILRaisable {
    static let milTypes = ["resize_bilinear", "resize_nearest_neighbor"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let size = Pair(
            try operation.integer("target_size_height"), try operation.integer("target_size_width"))
        if operation.type == "resize_nearest_neighbor" {
            return [upsampleNearest(x, factor: try operation.factor(x, to: size))]
        }
        let mode = try operation.string("sampling_mode", default: "DEFAULT")
        let grids: [String: Resampling.Grid] = [
            "DEFAULT": .legacy, "UNALIGN_CORNERS": .halfPixels,
            "STRICT_ALIGN_CORNERS": .alignedCorners,
        ]
        guard let grid = grids[mode] else {
            throw operation.error("the sampling mode \"\(mode)\" is not supported")
        }
        return [try operation.bilinear(x, to: size, grid)]
    }
}
