import RetintGraph
import RetintMLPackage
import RetintTensors

/// `pixel_shuffle`, with PyTorch's channel order.
extension PixelShuffle: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let factor = MILOperand.constant(.integer(Int32(factor)))
        return lowering.add("pixel_shuffle", ["x": x, "upscale_factor": factor], node)
    }

    package static let milTypes = ["pixel_shuffle"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let factor = try operation.factor("upscale_factor")
        return [pixelShuffle(try operation.tensor("x"), factor: factor)]
    }
}

/// `pixel_unshuffle` from iOS16 on; before, reshapes and a transpose with at most five dimensions.
extension PixelUnshuffle: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        guard lowering.target < .iOS16 else {
            let factor = MILOperand.constant(.uint32([UInt32(factor)], shape: []))
            return lowering.add("pixel_unshuffle", ["x": x, "downscale_factor": factor], node)
        }
        let shape = node.inputShapes[0]
        let (planes, height, width) = (shape[0] * shape[1], shape[2] / factor, shape[3] / factor)
        let tiles: Shape = [planes, height, factor, width, factor]
        let sorted: Shape = [planes, factor, factor, height, width]
        let split = lowering.add(
            "reshape", ["x": x, "shape": .integers(tiles.dimensions)], node, shape: tiles)
        let moved = lowering.add(
            "transpose", ["x": .name(split), "perm": .integers([0, 2, 4, 1, 3])], node,
            shape: sorted)
        return lowering.add(
            "reshape", ["x": .name(moved), "shape": .integers(node.shape.dimensions)], node)
    }

    package static let milTypes = ["pixel_unshuffle"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let factor = try operation.factor("downscale_factor")
        return [pixelUnshuffle(try operation.tensor("x"), factor: factor)]
    }
}

extension OperationParameters {
    /// The factor of a pixel shuffle.
    package func factor(_ parameter: String) throws -> Int {
        let factor = try integer(parameter)
        guard (1...1 << 12).contains(factor) else {
            throw error("the factor \(factor) is out of range")
        }
        return factor
    }
}
