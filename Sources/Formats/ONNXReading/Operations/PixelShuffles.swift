import RetintGraph

/// Pixel shuffles.
enum PixelShuffles: OperationFamily {
    static let rules: [String: OperationRule] = [
        "DepthToSpace": OperationRule(depthToSpace),
        "SpaceToDepth": OperationRule { node in
            let x = try node.tensor(0)
            let factor = try blockSize(node)
            guard x.shape.rank == 4, x.shape[2] % factor == 0, x.shape[3] % factor == 0 else {
                throw node.error("blocks of \(factor) do not fit \(x.shape)", ONNXError.damaged)
            }
            let y = swapped(pixelUnshuffle(x, factor: factor), x.shape[1], factor * factor)
            return [.tensor(y, try node.value(0).type)]
        },
    ]

    @Sendable private static func depthToSpace(_ node: NodeContext) throws -> [ONNXValue] {
        var x = try node.tensor(0)
        let factor = try blockSize(node)
        guard x.shape.rank == 4, x.shape[1] % (factor * factor) == 0 else {
            throw node.error("blocks of \(factor) do not fit \(x.shape)", ONNXError.damaged)
        }
        switch try node.string("mode", default: "DCR") {
        case "CRD": break
        case "DCR": x = swapped(x, factor * factor, x.shape[1] / (factor * factor))
        case let mode: throw node.error("the mode \(mode.plain) is not supported")
        }
        return [.tensor(pixelShuffle(x, factor: factor), try node.value(0).type)]
    }

    private static func blockSize(_ node: NodeContext) throws -> Int {
        let size = try node.count("blocksize", default: 0)
        guard size <= 1024 else { throw node.error("blocks of \(size) are not supported") }
        return size
    }

    /// Channels ordered as `outer` × `inner`, reordered as `inner` × `outer`.
    private static func swapped(_ x: Tensor, _ outer: Int, _ inner: Int) -> Tensor {
        let apart = x.reshaped([x.shape[0], outer, inner, x.shape[2], x.shape[3]])
        return apart.transposed([0, 2, 1, 3, 4]).reshaped(x.shape)
    }
}
