import RetintCoreMLProto
import RetintMLPackage

/// Resizing of images.
enum Resizing: LayerFamily {
    static let readers: [String: LayerReader] = [
        "upsample": { layer in
            let proto = layer.proto.upsample
            let factors = try layer.factors(proto)
            return try layer.mapImages { x in
                guard proto.mode == .bilinear else {
                    return try layer.upsampled("upsample_nearest_neighbor", x, factors, [:])
                }
                var more: [String: MILOperand] = [
                    "align_corners": .flag(proto.linearUpsampleMode == .alignCornersTrue)
                ]
                if proto.linearUpsampleMode == .default {
                    layer.require(.iOS16)
                    more["half_pixel_centers"] = .flag(false)
                }
                return try layer.upsampled("upsample_bilinear", x, factors, more)
            }
        },
        "resizeBilinear": { layer in
            let proto = layer.proto.resizeBilinear
            let target = try layer.sizes(proto.targetSize, "the size", default: [1, 1])
            let modes: [ProtoSamplingMode.Method: String] = [
                .strictAlignEndpoints: "STRICT_ALIGN_CORNERS", .upsample: "DEFAULT",
                .alignEndpoints: target.contains(1) ? "ALIGN_CORNERS" : "STRICT_ALIGN_CORNERS",
                .roiAlign: "OFFSET_CORNERS",
            ]
            guard let mode = modes[proto.mode.samplingMethod] else {
                throw layer.error("its sampling mode is not known")
            }
            return try layer.mapImages {
                try layer.add(
                    "resize_bilinear",
                    [
                        "x": .name($0), "target_size_height": .integer(target[0]),
                        "target_size_width": .integer(target[1]), "sampling_mode": .text(mode),
                    ])
            }
        },
    ]
}

extension ReadLayer {
    fileprivate func factors(_ proto: ProtoUpsampleLayerParams) throws -> [Float] {
        guard proto.fractionalScalingFactor.isEmpty else {
            let factors = proto.fractionalScalingFactor
            guard factors.count == 2, factors.allSatisfy({ $0 > 0 && $0 < 4096 }) else {
                throw error("factors of \(factors) are not supported")
            }
            return factors
        }
        let factors = try sizes(proto.scalingFactor, "the factor", default: [1, 1])
        return factors.map { Float($0) }
    }

    fileprivate func upsampled(
        _ type: String, _ x: Blob, _ factors: [Float], _ more: [String: MILOperand]
    ) throws -> Blob {
        let inputs: [String: MILOperand] = [
            "x": .name(x), "scale_factor_height": .number(factors[0]),
            "scale_factor_width": .number(factors[1]),
        ]
        return try add(type, inputs.merging(more) { $1 })
    }
}
