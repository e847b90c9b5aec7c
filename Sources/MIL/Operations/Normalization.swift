import MLPackage
import TensorGraph

/// `instance_norm` and `layer_norm`, from means.
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
        let place = { (vector: Tensor) in
            isLayer ? spread(vector, along: axes, of: x) : perChannel(vector, like: x)
        }
        if let gamma = try operation.optionalTensor("gamma") { result = result * place(gamma) }
        if let beta = try operation.optionalTensor("beta") { result = result + place(beta) }
        return [result]
    }

    /// A tensor of the extents of `axes`, shaped so that it broadcasts against x.
    private static func spread(_ vector: Tensor, along axes: [Int], of x: Tensor) -> Tensor {
        vector.reshaped(
            Shape((0..<x.shape.rank).map { axes.contains($0) ? x.shape[$0] : 1 }))
    }
}
