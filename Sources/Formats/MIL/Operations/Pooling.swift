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
        let (x, axes, _) = try operation.pool()
        return [try maxPool(x, axes)]
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
        let (x, axes, isExtended) = try operation.pool()
        var excludesPadding = try operation.bool("exclude_padding_from_average", default: false)
        if isExtended && !excludesPadding {
            guard try operation.paddedAxes(x).allSatisfy({ $0.before + $0.after == 0 }) else {
                throw operation.error(
                    "ceil_mode with averaged padding needs windows that fit exactly")
            }
            excludesPadding = true
        }
        return [try avgPool(x, axes, countIncludePad: !excludesPadding)]
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
    /// The axes of a pooling, and whether `ceil_mode` adds elements at their ends, which do not
    /// count towards an average.
    fileprivate func pool() throws -> (Tensor, [WindowAxis], isExtended: Bool) {
        let x = try tensor("x")
        try requireSpatial(x)
        let given = try paddedAxes(x)
        var axes = given
        if try bool("ceil_mode", default: false) {
            for index in axes.indices { axes[index].roundUp(x.shape[index + 2]) }
        }
        return (x, axes, isExtended: zip(axes, given).contains { $0.after > $1.after })
    }

    fileprivate func paddedAxes(_ x: Tensor) throws -> [WindowAxis] {
        try windowAxes(
            x.shape, kernel: requiredIntegers("kernel_sizes", count: x.shape.rank - 2))
    }
}
