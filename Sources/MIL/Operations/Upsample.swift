import MLPackage
import TensorGraph

/// `upsample_bilinear` by whole factors, which are float32 in a float16 program too.
extension UpsampleBilinear: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        var inputs = factor.milParameters
        inputs["x"] = try lowering.operand(node.inputs[0])
        inputs["align_corners"] = .constant(.bool(alignCorners))
        return lowering.add("upsample_bilinear", inputs, node)
    }

    package static let milTypes = ["upsample_bilinear"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let alignCorners = try operation.bool("align_corners", default: true)
        let halfPixels = try operation.bool("half_pixel_centers", default: !alignCorners)
        let grid: Resampling.Grid =
            alignCorners ? .alignedCorners : halfPixels ? .halfPixels : .legacy
        return [try operation.bilinear(x, to: try operation.scaledSize(x), grid)]
    }
}

/// `upsample_nearest_neighbor` by whole factors.
extension UpsampleNearest: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        var inputs = factor.milParameters
        inputs["x"] = try lowering.operand(node.inputs[0])
        return lowering.add("upsample_nearest_neighbor", inputs, node)
    }

    package static let milTypes = ["upsample_nearest_neighbor"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        return [upsampleNearest(x, factor: try operation.factor(x))]
    }
}

/// `resize_bilinear`, and `resize_nearest_neighbor` to whole multiples of the size.
enum ResizeRule: MILRaisable {
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

extension Pair {
    /// Factors by their names in MIL.
    fileprivate var milParameters: [String: MILOperand] {
        [
            "scale_factor_height": .constant(.float(Float(height))),
            "scale_factor_width": .constant(.float(Float(width))),
        ]
    }
}

extension RaisedOperation {
    /// The factor as a whole number; a factor a little above one counts as that one.
    func factor(_ x: Tensor) throws -> Pair { try factor(x, to: try scaledSize(x)) }

    /// Height and width behind, rounded down.
    func scaledSize(_ x: Tensor) throws -> Pair {
        try requirePicture(x)
        let height = try float("scale_factor_height", default: 1) * Float(x.shape[2])
        let width = try float("scale_factor_width", default: 1) * Float(x.shape[3])
        let range: Range<Float> = 1..<0x1p24
        guard range.contains(height), range.contains(width) else {
            throw error("the scale factors are out of range")
        }
        return Pair(Int(height), Int(width))
    }

    func factor(_ x: Tensor, to size: Pair) throws -> Pair {
        try requirePicture(x)
        guard let factor = x.wholeFactor(to: size) else {
            throw error(
                "\(x.shape[2])×\(x.shape[3]) to \(size.height)×\(size.width) is no upsampling by "
                    + "whole factors")
        }
        return factor
    }

    /// By whole factors as the engine has it, else by products.
    func bilinear(_ x: Tensor, to size: Pair, _ grid: Resampling.Grid) throws -> Tensor {
        try requirePicture(x)
        if let factor = x.wholeFactor(to: size), grid != .legacy {
            return upsampleBilinear(x, factor: factor, alignCorners: grid == .alignedCorners)
        }
        let side = 1...(1 << 13)
        guard side.contains(size.height), side.contains(size.width), side.contains(x.shape[2]),
            side.contains(x.shape[3])
        else { throw error("a size of \(size.height)×\(size.width) is out of range") }
        return Resampling(grid: grid).resized(x, to: size)
    }
}

extension Tensor {
    /// How often a picture's size goes into another; nil where it does not.
    fileprivate func wholeFactor(to size: Pair) -> Pair? {
        guard size.height >= shape[2], size.width >= shape[3], size.height % shape[2] == 0,
            size.width % shape[3] == 0
        else { return nil }
        return Pair(size.height / shape[2], size.width / shape[3])
    }
}
