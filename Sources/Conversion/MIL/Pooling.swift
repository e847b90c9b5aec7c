import MLPackage
import TensorGraph

/// `max_pool`.
extension MaxPool: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let inputs = try poolParameters(kernel, window, node, &lowering)
        return lowering.add("max_pool", inputs, node)
    }

    package static let milTypes = ["max_pool"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, kernel, window) = try operation.pool()
        return [
            maxPool2d(x, kernel: kernel, stride: window.stride, padding: window.padding)
        ]
    }
}

/// `avg_pool`.
extension AveragePool: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        var inputs = try poolParameters(kernel, window, node, &lowering)
        inputs["exclude_padding_from_average"] = .constant(.bool(!countIncludePad))
        return lowering.add("avg_pool", inputs, node)
    }

    package static let milTypes = ["avg_pool"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, kernel, window) = try operation.pool()
        let excludesPadding = try operation.bool("exclude_padding_from_average", default: false)
        return [
            avgPool2d(
                x, kernel: kernel, stride: window.stride, padding: window.padding,
                countIncludePad: !excludesPadding)
        ]
    }
}

private func poolParameters(
    _ kernel: Pair, _ window: Window, _ node: LoweredNode, _ lowering: inout MILLowering
) throws -> [String: MILOperand] {
    guard window.dilation == 1 else {
        throw node.error("Core ML pools without dilation", "Write the network without it.")
    }
    var inputs = window.milParameters
    inputs["x"] = try lowering.operand(node.inputs[0])
    inputs["kernel_sizes"] = .integers(kernel)
    inputs["ceil_mode"] = .constant(.bool(false))
    return inputs
}

extension RaisedOperation {
    /// What both poolings take. Rounding up is fine where it changes nothing.
    fileprivate func pool() throws -> (Tensor, Pair, Window) {
        let x = try tensor("x")
        try requirePicture(x)
        let sizes = try requiredIntegers("kernel_sizes", count: 2)
        let kernel = Pair(sizes[0], sizes[1])
        let window = try window(x.shape, kernel: kernel)
        if try bool("ceil_mode", default: false) {
            let (pad, stride) = (window.padding, window.stride)
            let rows = x.shape[2] + pad.top + pad.bottom - kernel.height
            let columns = x.shape[3] + pad.left + pad.right - kernel.width
            guard rows % stride.height == 0, columns % stride.width == 0 else {
                throw error("ceil_mode is supported where the windows fit exactly")
            }
        }
        return (x, kernel, window)
    }
}
