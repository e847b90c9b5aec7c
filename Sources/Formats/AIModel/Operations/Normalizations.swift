import RetintMLPackage

/// Batch normalization with constants: a scale and a shift of each channel.
enum Normalizations: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "batch_norm": { graph, operation in
            let x = try operation.value("x")
            guard x.shape.count >= 2 else { throw NotWritable("a batch_norm of \(x.type)") }
            let channels = x.shape[1]
            let mean = try operation.channels("mean", default: 0, count: channels)
            let variance = try operation.channels("variance", default: 1, count: channels)
            let gamma = try operation.channels("gamma", default: 1, count: channels)
            let beta = try operation.channels("beta", default: 0, count: channels)
            let epsilon = Double(try operation.float("epsilon", default: 1e-5))
            let scales = zip(gamma, variance).map {
                Double($0) / (Double($1) + epsilon).squareRoot()
            }
            let shifts = zip(beta, zip(mean, scales)).map { Double($0) - Double($1.0) * $1.1 }
            var shape = [Int](repeating: 1, count: x.shape.count)
            shape[1] = channels
            let constants = try [scales, shifts].map { values in
                try graph.constant(.floats(values.map { Float($0) }, shape: shape, as: x.dataType))
            }
            let scaled = try graph.combined("mul", x, constants[0])
            return [try graph.combined("add", scaled, constants[1])]
        }
    ]

    static let readers: [String: OperationReader] = [:]
}
