import RetintCoreMLProto
import RetintMLPackage

/// Scales and biases of channels, or of all pixels.
enum Scaling: LayerFamily {
    static let readers: [String: LayerReader] = [
        "scale": { layer in
            let proto = layer.proto.scale
            return try layer.mapImages { x in
                let scale = try layer.factor(proto.scale, proto.shapeScale, "the scale")
                let scaled = try layer.combined("mul", x, scale)
                guard proto.hasBias else { return scaled }
                let bias = try layer.factor(proto.bias, proto.shapeBias, "the bias")
                return try layer.combined("add", scaled, bias)
            }
        },
        "bias": { layer in
            let proto = layer.proto.bias
            return try layer.mapImages { x in
                let bias = try layer.factor(proto.bias, proto.shape, "the bias")
                return try layer.combined("add", x, bias)
            }
        },
    ]
}

extension ReadLayer {
    /// A constant of [1], [C], [1, H, W] or [C, H, W], as one that broadcasts against images.
    fileprivate func factor(
        _ proto: ProtoWeightParams, _ shape: [UInt64], _ name: String
    ) throws -> Blob {
        let sizes = try shape.map { try size($0, "a size of \(name)") }
        guard sizes.count == 1 || sizes.count == 3 else {
            throw error("\(name) has \(sizes.count) sizes, not one or three")
        }
        let whole = sizes.count == 1 ? [1, sizes[0], 1, 1] : [1] + sizes
        return floats(try elements(proto, whole, name), whole)
    }
}
