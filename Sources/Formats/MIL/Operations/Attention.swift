import RetintGraph
import RetintMLPackage

/// `scaled_dot_product_attention`.
enum Attention: MILRaisable {
    static let milTypes = ["scaled_dot_product_attention"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let query = try operation.tensor("query")
        let (key, value) = try (operation.tensor("key"), operation.tensor("value"))
        guard query.shape.rank >= 2, key.shape.rank == query.shape.rank else {
            throw operation.error("\(query.shape) and \(key.shape) do not fit")
        }
        let scale = 1 / Float(query.shape[query.shape.rank - 1]).squareRoot()
        var scores = matmul(query, key, transposeY: true) * scale
        if let mask = try operation.optionalTensor("attn_mask") {
            let isBool = operation.dataType("attn_mask") == .bool
            scores = isBool ? select(mask, scores, scores.scalar(-.infinity)) : scores + mask
        }
        let weights = softmax(scores, axis: scores.shape.rank - 1)
        return [matmul(weights, value)]
    }
}
