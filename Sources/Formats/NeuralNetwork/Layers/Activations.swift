import RetintCoreMLProto
import RetintMLPackage

/// Activations, and those that are layers of their own.
enum Activations: LayerFamily {
    static let readers: [String: LayerReader] = [
        "activation": { try $0.activation($0.proto.activation) },
        "clampedReLu": { layer in
            let limits = layer.proto.clampedReLu
            return try layer.mapElements {
                try layer.add(
                    "clamped_relu",
                    [
                        "x": .name($0), "alpha": .number(limits.alpha),
                        "beta": .number(limits.beta),
                    ])
            }
        },
        "clip": { layer in
            let limits = layer.proto.clip
            return try layer.mapElements {
                try layer.add(
                    "clip",
                    [
                        "x": .name($0), "alpha": .number(limits.minVal),
                        "beta": .number(limits.maxVal),
                    ])
            }
        },
        "gelu": { layer in
            let modes: [ProtoGeluLayerParams.GeluMode: String] = [
                .exact: "EXACT", .tanhApproximation: "TANH_APPROXIMATION",
                .sigmoidApproximation: "SIGMOID_APPROXIMATION",
            ]
            guard let mode = modes[layer.proto.gelu.mode] else {
                throw layer.error("its mode is not known")
            }
            return try layer.mapElements {
                try layer.add("gelu", ["x": .name($0), "mode": .text(mode)])
            }
        },
        "softmax": { layer in
            try layer.mapImages { try layer.add("softmax", ["x": .name($0), "axis": .integer(1)]) }
        },
        "softmaxNd": { layer in
            let axis = layer.proto.softmaxNd.axis
            return try layer.mapExact {
                let axis = try layer.axis(axis, rank: $0.shape.count)
                return try layer.add("softmax", ["x": .name($0), "axis": .integer(axis)])
            }
        },
    ]
}

extension ReadLayer {
    fileprivate func activation(_ proto: ProtoActivationParams) throws -> [LayerValue] {
        switch proto.nonlinearityType {
        case .prelu(let prelu):
            if prelu.alpha.count == 1 {
                return try mapped("leaky_relu", ["alpha": try slope(prelu.alpha)])
            }
            return try mapChannels("prelu", ["alpha": prelu.alpha])
        case .parametricSoftplus(let softplus):
            return try mapChannels(
                "softplus_parametric", ["alpha": softplus.alpha, "beta": softplus.beta])
        case let other:
            guard let (type, parameters) = other?.operation else {
                throw error("the activation is of an unknown type")
            }
            return try mapped(type, parameters.mapValues { .number($0) })
        }
    }

    private func mapped(
        _ type: String, _ parameters: [String: MILOperand]
    ) throws -> [LayerValue] {
        try mapElements { x in
            try add(type, parameters.merging(["x": .name(x)]) { $1 })
        }
    }

    private func slope(_ proto: ProtoWeightParams) throws -> MILOperand {
        .number(try elements(proto, [1], "alpha")[0])
    }

    /// An activation with a vector of a number for each channel.
    private func mapChannels(
        _ type: String, _ vectors: [String: ProtoWeightParams]
    ) throws -> [LayerValue] {
        try mapImages { x in
            let channels = x.shape[1]
            var inputs: [String: MILOperand] = ["x": .name(x)]
            for (parameter, proto) in vectors.sorted(by: { $0.key < $1.key }) {
                let count = proto.count == 1 ? 1 : channels
                let numbers = try elements(proto, [count], parameter)
                if count == 1 { try create(channels) }
                inputs[parameter] = .constant(
                    .floats(count == 1 ? .init(repeating: numbers[0], count: channels) : numbers))
            }
            return try add(type, inputs)
        }
    }
}

extension ProtoWeightParams {
    /// The number of elements of vectors that may have one or several, unless they are quantized.
    fileprivate var count: Int {
        floatValue.isEmpty ? float16Value.count / 2 : floatValue.count
    }
}

extension ProtoActivationParams.OneOf_NonlinearityType {
    /// The MIL operation and its parameters.
    fileprivate var operation: (String, [String: Float])? {
        switch self {
        case .linear(let line): ("linear_activation", line.parameters)
        case .relu: ("relu", [:])
        case .leakyRelu(let slope): ("leaky_relu", ["alpha": slope.alpha])
        case .thresholdedRelu(let threshold): ("thresholded_relu", ["alpha": threshold.alpha])
        case .tanh: ("tanh", [:])
        case .scaledTanh(let scale): ("scaled_tanh", scale.parameters)
        case .sigmoid: ("sigmoid", [:])
        case .sigmoidHard(let line): ("sigmoid_hard", line.parameters)
        case .elu(let scale): ("elu", ["alpha": scale.alpha])
        case .softsign: ("softsign", [:])
        case .softplus: ("softplus", [:])
        case .prelu, .parametricSoftplus: nil
        }
    }
}

extension ProtoLinearParams {
    fileprivate var parameters: [String: Float] { ["alpha": alpha, "beta": beta] }
}
