import RetintMIL
import RetintMLPackage

/// Moves between channels and pixels, transposes and reversed axes.
enum Rearrangement: LayerFamily {
    static let readers: [String: LayerReader] = [
        "reorganizeData": { layer in
            let proto = layer.proto.reorganizeData
            let size = try layer.size(proto.blockSize, "the block")
            return try layer.mapImages { x in
                switch proto.mode {
                case .spaceToDepth:
                    return try layer.add(
                        "space_to_depth", ["x": .name(x), "block_size": .integer(size)])
                case .depthToSpace:
                    return try layer.add(
                        "depth_to_space", ["x": .name(x), "block_size": .integer(size)])
                case .pixelShuffle:
                    return try layer.add(
                        "pixel_shuffle", ["x": .name(x), "upscale_factor": .integer(size)])
                default: throw layer.error("its mode is not known")
                }
            }
        },
        "permute": { layer in
            let x = try layer.input()
            let axes = try layer.proto.permute.axis.map { try layer.amount($0, "an axis") }
            if axes.isEmpty || axes == [0, 1, 2, 3] { return [x] }
            guard axes.sorted() == [0, 1, 2, 3], x.shape.count >= 4 else {
                throw layer.error("\(axes) cannot order the axes of \(x.shape)")
            }
            // Sequence, channels, height and width: the axis of the batch stays.
            if x.shape.count == 5, x.shape[1] == 1 || axes[0] == 0 {
                return [try layer.permuted(x, axes)]
            }
            let rank = x.shape.count
            let own = axes.map { $0 == 0 ? rank == 4 ? 0 : rank - 5 : rank - 4 + $0 }
            var order = Array(0..<rank)
            for (place, axis) in zip([own.min() ?? 0] + (rank - 3..<rank), own) {
                order[place] = axis
            }
            return [LayerValue(try layer.transposed(try layer.exact(x), order))]
        },
        "transpose": { layer in
            let axes = try layer.proto.transpose.axes.map { try layer.amount($0, "an axis") }
            return try layer.mapExact { x in
                guard axes.sorted() == Array(0..<x.shape.count) else {
                    throw layer.error("\(axes) cannot order the axes of \(x.shape)")
                }
                return try layer.transposed(x, axes)
            }
        },
        "reverse": { layer in
            let flags = layer.proto.reverse.reverseDim
            return try layer.mapExact { x in
                guard flags.count == x.shape.count else {
                    throw layer.error("\(flags.count) flags do not fit \(x.shape)")
                }
                let axes = flags.indices.filter { flags[$0] }
                guard !axes.isEmpty else { return x }
                return try layer.add("reverse", ["x": .name(x), "axes": .integers(axes)])
            }
        },
        "matrixBandPart": { layer in
            let proto = layer.proto.matrixBandPart
            return try layer.banded(proto.numLower, proto.numUpper)
        },
        "lowerTriangular": { layer in
            let diagonal = layer.proto.lowerTriangular.k
            guard diagonal >= 0 else { throw layer.error("a diagonal below 0 is not supported") }
            return try layer.banded(-1, diagonal)
        },
        "upperTriangular": { layer in
            let diagonal = layer.proto.upperTriangular.k
            guard diagonal <= 0, diagonal > .min else {
                throw layer.error("a diagonal above 0 is not supported")
            }
            return try layer.banded(-diagonal, -1)
        },
    ]
}

extension ReadLayer {
    /// A value [sequence, batch, channels, height, width] whose batch is one, or stays in place
    /// together with the sequence.
    fileprivate func permuted(_ x: LayerValue, _ axes: [Int]) throws -> LayerValue {
        let images = try transposed(try images(x), axes)
        let leading = axes[0] == 0 ? x.leading : [images.shape[0], 1]
        return LayerValue(images: images, leading + images.shape.dropFirst())
    }

    fileprivate func banded(_ lower: Int64, _ upper: Int64) throws -> [LayerValue] {
        let (lower, upper) = try (position(lower, "a band"), position(upper, "a band"))
        return try mapExact {
            try add(
                "band_part", ["x": .name($0), "lower": .integer(lower), "upper": .integer(upper)])
        }
    }
}
