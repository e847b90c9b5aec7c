import RetintGraph
import RetintMLPackage
import RetintTensors

/// `instance_norm` and `layer_norm`, composed of means.
enum Normalization: MILRaisable {
    static let milTypes = ["instance_norm", "layer_norm"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
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

    /// Reshapes a tensor with the extents of `axes` so that it broadcasts against x.
    private static func spread(_ vector: Tensor, along axes: [Int], of x: Tensor) -> Tensor {
        vector.reshaped(
            Shape((0..<x.shape.rank).map { axes.contains($0) ? x.shape[$0] : 1 }))
    }
}
