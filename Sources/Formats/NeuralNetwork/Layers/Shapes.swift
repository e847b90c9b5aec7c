import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Other shapes for the same elements.
enum Shapes: LayerFamily {
    static let readers: [String: LayerReader] = [
        "flatten": { layer in
            let isLast = layer.proto.flatten.mode == .channelLast
            return try layer.mapImages { x in
                let ordered = isLast ? try layer.transposed(x, [0, 2, 3, 1]) : x
                return try layer.reshaped(ordered, [x.shape[0], -1, 1, 1])
            }
        },
        "reshape": { [try $0.recast($0.proto.reshape)] },
        "reshapeStatic": { layer in
            let shape = try layer.target(layer.proto.reshapeStatic.targetShape)
            return try layer.mapExact { try layer.reshaped($0, shape) }
        },
        "rankPreservingReshape": { layer in
            let shape = try layer.target(layer.proto.rankPreservingReshape.targetShape)
            return try layer.mapExact { x in
                guard shape.count == x.shape.count else {
                    throw layer.error("\(shape) has other axes than \(x.shape)")
                }
                return try layer.reshaped(x, shape)
            }
        },
        "reshapeLike": { layer in
            let pair = try layer.inputs(2)
            return [LayerValue(try layer.reshaped(try layer.exact(pair[0]), pair[1].shape))]
        },
        "flattenTo2D": { layer in
            let axis = layer.proto.flattenTo2D.axis
            return try layer.mapExact { x in
                // The rank itself is allowed: all axes are then rows.
                let rank = x.shape.count
                let axis = axis == Int64(rank) ? rank : try layer.axis(axis, rank: rank)
                guard let rows = Array(x.shape.prefix(axis)).product else {
                    throw layer.error("\(x.shape) is too large")
                }
                return try layer.reshaped(x, [rows, -1])
            }
        },
        "squeeze": { layer in
            let proto = layer.proto.squeeze
            return try layer.mapExact { x in
                let unit = x.shape.indices.filter { x.shape[$0] == 1 }
                let axes =
                    proto.squeezeAll ? unit : try layer.axes(proto.axes, rank: x.shape.count)
                guard Set(axes).isSubset(of: unit) else {
                    throw layer.error("axes \(axes) of \(x.shape) are not all 1")
                }
                // There are no values without axes.
                let kept = axes.count == x.shape.count ? Array(axes.dropLast()) : axes
                return kept.isEmpty ? x : try layer.squeezed(x, kept)
            }
        },
        "expandDims": { layer in
            let numbers = layer.proto.expandDims.axes
            return try layer.mapExact { x in
                let axes = try layer.axes(numbers, rank: x.shape.count + numbers.count)
                return try layer.expanded(x, axes.sorted())
            }
        },
        "copy": { [try $0.input()] },
        "broadcastToStatic": { layer in
            let shape = try layer.proto.broadcastToStatic.targetShape.map {
                try layer.size($0, "a size")
            }
            return try layer.mapExact { try layer.broadcast($0, to: shape) }
        },
        "broadcastToLike": { layer in
            let pair = try layer.inputs(2)
            let x = try layer.exact(pair[0])
            return [LayerValue(try layer.broadcast(x, to: pair[1].shape))]
        },
    ]
}

extension ReadLayer {
    /// A stated shape, in which 0 keeps an axis and -1 follows from the others.
    fileprivate func target(_ numbers: [Int64]) throws -> [Int] {
        try numbers.map { $0 == 0 || $0 == -1 ? Int($0) : try size($0, "a size") }
    }

    /// A reshape of the first versions: of channels, height and width, and perhaps the sequence.
    fileprivate func recast(_ proto: ProtoReshapeLayerParams) throws -> LayerValue {
        let x = try input()
        let images = try images(x)
        let target = try proto.targetShape.map { try size($0, "a size") }
        guard target.count == 3 || target.count == 4 else {
            throw error("its shape has \(target.count) sizes, not 3 or 4")
        }
        let whole = target.count == 4 ? target : [images.shape[0]] + target
        guard whole.product == images.shape.product else {
            throw error("\(x.shape) cannot be reshaped to \(target)")
        }
        let result: Blob
        if proto.mode == .channelLast {
            let last = [whole[0], whole[2], whole[3], whole[1]]
            let ordered = try reshaped(try transposed(images, [0, 2, 3, 1]), last)
            result = try transposed(ordered, [0, 3, 1, 2])
        } else {
            result = try reshaped(images, whole)
        }
        guard whole[0] != images.shape[0] else {
            return try self.result(images: result, like: x)
        }
        return LayerValue(images: result, [whole[0], 1] + whole.dropFirst())
    }

    fileprivate func broadcast(_ x: Blob, to shape: [Int]) throws -> Blob {
        guard x.shape.count <= shape.count else {
            throw error("\(x.shape) cannot be broadcast to \(shape)")
        }
        let own = [Int](repeating: 1, count: shape.count - x.shape.count) + x.shape
        let counts = try zip(own, shape).map { size, wanted in
            guard size == wanted || size == 1 else {
                throw error("\(x.shape) cannot be broadcast to \(shape)")
            }
            return wanted / size
        }
        let aligned = own == x.shape ? x : try reshaped(x, own)
        guard counts.contains(where: { $0 > 1 }) else { return aligned }
        return try add("tile", ["x": .name(aligned), "reps": .integers(counts)])
    }
}
