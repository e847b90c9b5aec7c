import RetintMIL
import RetintMLPackage

/// Concatenation, stacks, splits and repetitions.
enum Joining: LayerFamily {
    static let readers: [String: LayerReader] = [
        "concat": { layer in
            guard let first = layer.inputs.first else { throw layer.error("it has no inputs") }
            guard !layer.proto.concat.sequenceConcat else {
                return [try layer.joined(alongSequence: layer.inputs)]
            }
            let parts = try layer.inputs.map(layer.images)
            return [try layer.result(images: try layer.joined(parts, axis: 1), like: first)]
        },
        "concatNd": { layer in
            let proto = layer.proto.concatNd
            guard let rank = layer.inputs.first?.shape.count else {
                throw layer.error("it has no inputs")
            }
            let axis = try layer.axis(proto.axis, rank: rank)
            return [
                LayerValue(
                    try layer.joined(
                        try layer.inputs.map(layer.exact), axis: axis,
                        isInterleaved: proto.interleave))
            ]
        },
        "stack": { layer in
            guard let rank = layer.inputs.first?.shape.count else {
                throw layer.error("it has no inputs")
            }
            let axis = try layer.axis(layer.proto.stack.axis, rank: rank + 1)
            return [
                LayerValue(
                    try layer.add(
                        "stack",
                        [
                            "values": .names(try layer.inputs.map { try layer.exact($0).name }),
                            "axis": .integer(axis),
                        ]))
            ]
        },
        "split": { layer in
            let x = try layer.input()
            let count = try layer.size(layer.proto.split.nOutputs, "the number of outputs")
            let parts = try layer.parts(
                try layer.images(x), axis: 1, count, ["num_splits": .integer(count)])
            return try parts.map { try layer.result(images: $0, like: x) }
        },
        "splitNd": { layer in
            let proto = layer.proto.splitNd
            let x = try layer.exact(try layer.input())
            let axis = try layer.axis(proto.axis, rank: x.shape.count)
            guard proto.splitSizes.isEmpty else {
                let sizes = try proto.splitSizes.map { try layer.size($0, "a size") }
                let how = ["split_sizes": MILOperand.integers(sizes)]
                return try layer.parts(x, axis: axis, sizes.count, how).map { LayerValue($0) }
            }
            let count = try layer.size(proto.numSplits, "the number of outputs")
            return try layer.parts(x, axis: axis, count, ["num_splits": .integer(count)])
                .map { LayerValue($0) }
        },
        "sequenceRepeat": { layer in
            let x = try layer.input()
            let count = max(layer.proto.sequenceRepeat.nRepetitions, 1)
            guard count <= 1 << 12 else { throw layer.error("\(count) repetitions are too many") }
            try layer.create(Int(count))
            return [try layer.joined(alongSequence: (0..<count).map { _ in x })]
        },
        "tile": { layer in
            let counts = try layer.proto.tile.reps.map { try layer.size($0, "a repetition") }
            return try layer.mapExact {
                try layer.add("tile", ["x": .name($0), "reps": .integers(counts)])
            }
        },
    ]
}

extension ReadLayer {
    fileprivate func joined(
        _ parts: [Blob], axis: Int, isInterleaved: Bool = false
    ) throws -> Blob {
        guard parts.count > 1 else {
            guard let part = parts.first else { throw error("it has no inputs") }
            return part
        }
        return try add(
            "concat",
            [
                "values": .names(parts.map(\.name)), "axis": .integer(axis),
                "interleave": .flag(isInterleaved),
            ])
    }

    /// Values joined along the fifth axis from the end.
    fileprivate func joined(alongSequence values: [LayerValue]) throws -> LayerValue {
        guard values.allSatisfy({ $0.shape.count >= 5 }) else {
            throw error("values without a sequence axis cannot be joined along it")
        }
        let rank = values.first?.shape.count ?? 5
        return LayerValue(try joined(try values.map(exact), axis: rank - 5))
    }

    fileprivate func parts(
        _ x: Blob, axis: Int, _ count: Int, _ how: [String: MILOperand]
    ) throws -> [Blob] {
        guard count <= 1 << 12, count <= x.shape[axis] else {
            throw error("\(x.shape[axis]) elements cannot be split into \(count) parts")
        }
        return try addSeveral(
            "split", how.merging(["x": .name(x), "axis": .integer(axis)]) { $1 },
            [MILDataType](repeating: .float32, count: count))
    }
}
