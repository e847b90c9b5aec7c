import RetintMIL
import RetintMLPackage

/// Elements at positions that other values state.
enum Selection: LayerFamily {
    static let readers: [String: LayerReader] = [
        "gather": { try $0.gathered("gather", $0.proto.gather.axis) },
        "gatherAlongAxis": { try $0.gathered("gather_along_axis", $0.proto.gatherAlongAxis.axis) },
        "gatherNd": { layer in
            let pair = try layer.inputs(2)
            return [
                LayerValue(
                    try layer.add(
                        "gather_nd",
                        [
                            "x": .name(try layer.exact(pair[0])),
                            "indices": .name(try layer.indices(pair[1])),
                        ]))
            ]
        },
    ]
}

extension ReadLayer {
    fileprivate func gathered(_ type: String, _ axis: Int64) throws -> [LayerValue] {
        let pair = try inputs(2)
        let x = try exact(pair[0])
        return [
            LayerValue(
                try add(
                    type,
                    [
                        "x": .name(x), "indices": .name(try indices(pair[1])),
                        "axis": .integer(try self.axis(axis, rank: x.shape.count)),
                    ]))
        ]
    }
}
