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
        guard halfPixels != alignCorners else {
            throw operation.error(
                "align_corners \(alignCorners) with half_pixel_centers \(halfPixels) is not "
                    + "supported")
        }
        return [upsampleBilinear(x, factor: try operation.factor(x), alignCorners: alignCorners)]
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

/// `resize_bilinear` and `resize_nearest_neighbor` to whole multiples of the size.
enum ResizeRule: MILRaisable {
    static let milTypes = ["resize_bilinear", "resize_nearest_neighbor"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let factor = try operation.factor(
            x, height: try operation.integer("target_size_height"),
            width: try operation.integer("target_size_width"))
        if operation.type == "resize_nearest_neighbor" {
            return [upsampleNearest(x, factor: factor)]
        }
        let mode = try operation.string("sampling_mode", default: "DEFAULT")
        switch mode {
        case "UNALIGN_CORNERS": return [upsampleBilinear(x, factor: factor)]
        case "STRICT_ALIGN_CORNERS":
            return [upsampleBilinear(x, factor: factor, alignCorners: true)]
        default: throw operation.error("the sampling mode \"\(mode)\" is not supported")
        }
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
    func factor(_ x: Tensor) throws -> Pair {
        try requirePicture(x)
        let height = try float("scale_factor_height", default: 1) * Float(x.shape[2])
        let width = try float("scale_factor_width", default: 1) * Float(x.shape[3])
        let range: Range<Float> = 1..<0x1p24
        guard range.contains(height), range.contains(width) else {
            throw error("the scale factors are out of range")
        }
        return try factor(x, height: Int(height), width: Int(width))
    }

    func factor(_ x: Tensor, height: Int, width: Int) throws -> Pair {
        try requirePicture(x)
        guard height >= x.shape[2], width >= x.shape[3], height % x.shape[2] == 0,
            width % x.shape[3] == 0
        else {
            throw error(
                "\(x.shape[2])×\(x.shape[3]) to \(height)×\(width) is no upsampling by whole "
                    + "factors")
        }
        return Pair(height / x.shape[2], width / x.shape[3])
    }
}
