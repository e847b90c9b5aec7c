import RetintGraph
import RetintMLPackage

/// `upsample_bilinear` by integer factors, which are float32 even in a float16 program.
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

/// `upsample_nearest_neighbor` by integer factors.
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

extension Pair {
    /// The factors as MIL parameters.
    fileprivate var milParameters: [String: MILOperand] {
        [
            "scale_factor_height": .constant(.float(Float(height))),
            "scale_factor_width": .constant(.float(Float(width))),
        ]
    }
}
