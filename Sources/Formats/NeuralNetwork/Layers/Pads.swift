import RetintMIL
import RetintMLPackage

/// Padding and cropping.
enum Pads: LayerFamily {
    static let readers: [String: LayerReader] = [
        "padding": { layer in
            let proto = layer.proto.padding
            let amounts = try layer.borders(proto.paddingAmounts, "the padding")
            let (mode, value): (String, Float) =
                switch proto.paddingType {
                case .constant(let constant): ("constant", constant.value)
                case .reflection: ("reflect", 0)
                case .replication: ("replicate", 0)
                case nil: throw layer.error("the padding is of an unknown kind")
                }
            return try layer.mapImages { try layer.padded($0, amounts, mode, value) }
        },
        "constantPad": { layer in
            let proto = layer.proto.constantPad
            guard !proto.padToGivenOutputSizeMode else {
                throw layer.error("padding up to a given size is not supported")
            }
            let amounts = try proto.padAmounts.map { try layer.amount($0, "the padding") }
            return try layer.mapExact { x in
                guard amounts.count == 2 * x.shape.count else {
                    throw layer.error("\(amounts.count) amounts do not fit \(x.shape)")
                }
                return try layer.padded(x, amounts, "constant", proto.value)
            }
        },
        "crop": { layer in
            let proto = layer.proto.crop
            guard layer.inputs.count == 2 else {
                let amounts = try layer.borders(proto.cropAmounts, "the crop")
                return try layer.mapImages { x in
                    try layer.add(
                        "crop",
                        [
                            "x": .name(x), "crop_height": .integers(Array(amounts.prefix(2))),
                            "crop_width": .integers(Array(amounts.suffix(2))),
                        ])
                }
            }
            let pair = try layer.inputs(2)
            let (x, reference) = (try layer.images(pair[0]), try layer.images(pair[1]))
            let offset =
                proto.offset.isEmpty
                ? [0, 0] : try proto.offset.map { try layer.amount($0, "the offset") }
            guard offset.count == 2 else { throw layer.error("the offset needs two numbers") }
            let amounts = try (0..<2).map { axis in
                let after = x.shape[axis + 2] - offset[axis] - reference.shape[axis + 2]
                guard after >= 0 else {
                    throw layer.error("\(reference.shape) at \(offset) is not inside \(x.shape)")
                }
                return [offset[axis], after]
            }
            let cropped = try layer.add(
                "crop",
                [
                    "x": .name(x), "crop_height": .integers(amounts[0]),
                    "crop_width": .integers(amounts[1]),
                ])
            return [try layer.result(images: cropped, like: pair[0])]
        },
    ]
}

extension ReadLayer {
    /// Pads the last axes by amounts before and after each.
    fileprivate func padded(
        _ x: Blob, _ amounts: [Int], _ mode: String, _ value: Float
    ) throws -> Blob {
        let missing = [Int](repeating: 0, count: max(2 * x.shape.count - amounts.count, 0))
        return try add(
            "pad",
            [
                "x": .name(x), "pad": .integers(missing + amounts), "mode": .text(mode),
                "constant_val": .number(value),
            ])
    }
}
