import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Normalizations.
enum Normalizations: LayerFamily {
    static let readers: [String: LayerReader] = [
        "batchnorm": { layer in
            try layer.mapImages { try layer.normalized($0, layer.proto.batchnorm) }
        },
        "mvn": { layer in
            let proto = layer.proto.mvn
            let axes = proto.acrossChannels ? [1, 2, 3] : [2, 3]
            return try layer.mapImages { x in
                guard proto.normalizeVariance else {
                    let mean = try layer.add(
                        "reduce_mean",
                        ["x": .name(x), "axes": .integers(axes), "keep_dims": .flag(true)])
                    return try layer.combined("sub", x, mean)
                }
                let epsilon = layer.number(proto.epsilon, zeroMeans: 1e-6)
                return try layer.add(
                    "layer_norm",
                    ["x": .name(x), "axes": .integers(axes), "epsilon": .number(epsilon)])
            }
        },
        "l2Normalize": { layer in
            let epsilon = layer.number(layer.proto.l2Normalize.epsilon, zeroMeans: 1e-6)
            return try layer.mapImages {
                try layer.add("l2_norm", ["x": .name($0), "epsilon": .number(epsilon)])
            }
        },
        "lrn": { layer in
            let proto = layer.proto.lrn
            let size = try layer.size(proto.localSize, "the number of channels")
            return try layer.mapImages {
                try layer.add(
                    "local_response_norm",
                    [
                        "x": .name($0), "size": .integer(size), "alpha": .number(proto.alpha),
                        "beta": .number(proto.beta),
                        "k": .number(layer.number(proto.k, zeroMeans: 1)),
                    ])
            }
        },
        "layerNormalization": { layer in
            let proto = layer.proto.layerNormalization
            let shape = try proto.normalizedShape.map { try layer.size($0, "a size") }
            return try layer.mapExact { x in
                let rank = x.shape.count
                guard shape.count <= rank, Array(x.shape.suffix(shape.count)) == shape else {
                    throw layer.error("\(shape) are not the last sizes of \(x.shape)")
                }
                return try layer.add(
                    "layer_norm",
                    [
                        "x": .name(x), "axes": .integers(Array(rank - shape.count..<rank)),
                        "gamma": .name(try layer.weights(proto.gamma, shape, "gamma")),
                        "beta": .name(try layer.weights(proto.beta, shape, "beta")),
                        "epsilon": .number(proto.eps),
                    ])
            }
        },
    ]
}

extension ReadLayer {
    fileprivate func normalized(_ x: Blob, _ proto: ProtoBatchnormLayerParams) throws -> Blob {
        let channels = try size(proto.channels, "the number of channels")
        guard channels == x.shape[1] else {
            throw error("\(channels) channels do not fit an input of \(x.shape)")
        }
        func vector(_ proto: ProtoWeightParams, _ name: String) throws -> MILOperand {
            .name(try weights(proto, [channels], name))
        }
        var inputs: [String: MILOperand] = [
            "x": .name(x), "gamma": try vector(proto.gamma, "gamma"),
            "beta": try vector(proto.beta, "beta"),
            "epsilon": .number(number(proto.epsilon, zeroMeans: 1e-5)),
        ]
        guard proto.computeMeanVar else {
            inputs["mean"] = try vector(proto.mean, "the mean")
            inputs["variance"] = try vector(proto.variance, "the variance")
            return try add("batch_norm", inputs)
        }
        guard proto.instanceNormalization || x.shape[0] == 1 else {
            throw error("statistics of a batch of \(x.shape[0]) are not supported")
        }
        return try add("instance_norm", inputs)
    }
}
