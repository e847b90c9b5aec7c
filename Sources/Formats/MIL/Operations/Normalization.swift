import RetintGraph
import RetintMLPackage
import RetintTensors

/// `instance_norm` and `layer_norm`, composed of means; `l2_norm` and `local_response_norm`.
enum Normalization: MILRaisable {
    static let milTypes = ["instance_norm", "l2_norm", "layer_norm", "local_response_norm"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        if operation.type == "l2_norm" { return [try lengthNormalized(operation, x)] }
        if operation.type == "local_response_norm" { return [try local(operation, x)] }
        let isLayer = operation.type == "layer_norm"
        let standard = Array((isLayer ? 0 : min(2, x.shape.rank))..<x.shape.rank)
        let given = isLayer ? try operation.integers("axes") : nil
        let axes = try operation.axes(given ?? standard, rank: x.shape.rank)
        let epsilon = try operation.float("epsilon", default: 1e-5)
        let centered = x - x.mean(axes: axes, keepDims: true)
        let variance = (centered * centered).mean(axes: axes, keepDims: true)
        var result = centered / sqrt(variance + epsilon)
        let aligned = { (vector: Tensor) in
            isLayer ? spread(vector, along: axes, of: x) : perChannel(vector, like: x)
        }
        if let gamma = try operation.optionalTensor("gamma") { result = result * aligned(gamma) }
        if let beta = try operation.optionalTensor("beta") { result = result + aligned(beta) }
        return [result]
    }

    /// x over the root of its squares' sum along the last three axes.
    private static func lengthNormalized(
        _ operation: RaisedOperation, _ x: Tensor
    ) throws -> Tensor {
        let axes = Array(max(0, x.shape.rank - 3)..<x.shape.rank)
        let epsilon = try operation.float("epsilon", default: 1e-6)
        return x / sqrt((x * x).sum(axes: axes, keepDims: true) + epsilon)
    }

    private static func local(_ operation: RaisedOperation, _ x: Tensor) throws -> Tensor {
        let size = try operation.integer("size")
        guard x.shape.rank >= 3, (1...1024).contains(size) else {
            throw operation.error("a size of \(size) does not fit \(x.shape)")
        }
        return localResponseNorm(
            x, size: size, alpha: try operation.float("alpha", default: 1e-4),
            beta: try operation.float("beta", default: 0.75),
            k: try operation.float("k", default: 1))
    }

    /// Reshapes a tensor with the extents of `axes` so that it broadcasts against x.
    private static func spread(_ vector: Tensor, along axes: [Int], of x: Tensor) -> Tensor {
        vector.reshaped(
            Shape((0..<x.shape.rank).map { axes.contains($0) ? x.shape[$0] : 1 }))
    }
}
