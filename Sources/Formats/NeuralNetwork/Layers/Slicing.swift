import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Parts of axes.
enum Slicing: LayerFamily {
    static let readers: [String: LayerReader] = [
        "slice": { layer in
            let proto = layer.proto.slice
            let axes: [ProtoSliceLayerParams.SliceAxis: Int] = [
                .channelAxis: 1, .heightAxis: 2, .widthAxis: 3,
            ]
            guard let axis = axes[proto.axis] else { throw layer.error("its axis is not known") }
            return try layer.mapImages { x in
                var begin = [0, 0, 0, 0]
                var (end, stride) = (begin, [1, 1, 1, 1])
                begin[axis] = try layer.position(proto.startIndex, "the start")
                end[axis] = try layer.position(proto.endIndex, "the end")
                stride[axis] = proto.stride == 0 ? 1 : try layer.size(proto.stride, "the stride")
                let isWhole = (0..<4).map { $0 != axis }
                return try layer.sliced(x, begin, end, stride, isWhole, isWhole, [])
            }
        },
        "sliceStatic": { layer in
            let proto = layer.proto.sliceStatic
            return try layer.mapExact { x in
                try layer.sliced(
                    x, try proto.beginIds.map { try layer.position($0, "a start") },
                    try proto.endIds.map { try layer.position($0, "an end") },
                    try proto.strides.map { try layer.position($0, "a stride") },
                    proto.beginMasks, proto.endMasks, proto.squeezeMasks)
            }
        },
    ]
}

extension ReadLayer {
    fileprivate func sliced(
        _ x: Blob, _ begin: [Int], _ end: [Int], _ stride: [Int], _ beginMask: [Bool],
        _ endMask: [Bool], _ squeezeMask: [Bool]
    ) throws -> Blob {
        let rank = x.shape.count
        let none = [Bool](repeating: false, count: rank)
        guard begin.count == rank, end.count == rank, [0, rank].contains(stride.count),
            [beginMask, endMask, squeezeMask].allSatisfy({ [0, rank].contains($0.count) })
        else { throw error("its ranges do not fit an input of \(x.shape)") }
        return try add(
            "slice_by_index",
            [
                "x": .name(x), "begin": .integers(begin), "end": .integers(end),
                "stride": .integers(stride.isEmpty ? none.map { _ in 1 } : stride),
                "begin_mask": .flags(beginMask.isEmpty ? none : beginMask),
                "end_mask": .flags(endMask.isEmpty ? none : endMask),
                "squeeze_mask": .flags(squeezeMask.isEmpty ? none : squeezeMask),
            ])
    }
}
