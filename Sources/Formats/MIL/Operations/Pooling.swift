import RetintGraph
import RetintMLPackage
import RetintTensors

/// `max_pool`.
extension MaxPool: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let inputs = try poolParameters(kernel, window, node, &lowering)
        return lowering.add("max_pool", inputs, node)
    }

    package static let milTypes = ["max_pool"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, kernel, window, _) = try operation.pool()
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
        let (x, kernel, window, isExtended) = try operation.pool()
        var excludesPadding = try operation.bool("exclude_padding_from_average", default: false)
        if isExtended && !excludesPadding {
            guard try operation.padding(x.shape, kernel) == 0 else {
                throw operation.error(
                    "ceil_mode with averaged padding needs windows that fit exactly")
            }
            excludesPadding = true
        }
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
        throw node.error("Core ML's pooling has no dilation", "Write the network without it.")
    }
    var inputs = window.milParameters
    inputs["x"] = try lowering.operand(node.inputs[0])
    inputs["kernel_sizes"] = .integers(kernel)
    inputs["ceil_mode"] = .constant(.bool(false))
    return inputs
}

extension RaisedOperation {
    /// The parameters of a pooling, and whether `ceil_mode` adds rows or columns after the image,
    /// which do not count towards an average.
    fileprivate func pool() throws -> (Tensor, Pair, Window, isExtended: Bool) {
        let x = try tensor("x")
        try requireImage(x)
        let sizes = try requiredIntegers("kernel_sizes", count: 2)
        let kernel = Pair(sizes[0], sizes[1])
        var window = try window(x.shape, kernel: kernel)
        let given = window.padding
        if try bool("ceil_mode", default: false) {
            let rows = x.shape[2] + given.top + given.bottom - kernel.height
            let columns = x.shape[3] + given.left + given.right - kernel.width
            window.padding.bottom += missing(rows, window.stride.height)
            window.padding.right += missing(columns, window.stride.width)
        }
        return (x, kernel, window, isExtended: window.padding != given)
    }

    fileprivate func padding(_ shape: Shape, _ kernel: Pair) throws -> Padding {
        try window(shape, kernel: kernel).padding
    }

    /// The elements missing to a multiple of the stride.
    private func missing(_ extent: Int, _ stride: Int) -> Int {
        extent > 0 && extent % stride != 0 ? stride - extent % stride : 0
    }
}
