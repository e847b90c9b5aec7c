import RetintMLPackage

/// Values that the file contains, or that follow from shapes.
enum Constants: LayerFamily {
    static let readers: [String: LayerReader] = [
        "loadConstant": { layer in
            let proto = layer.proto.loadConstant
            guard proto.shape.count == 3 else {
                throw layer.error("its shape has \(proto.shape.count) sizes, not 3")
            }
            let shape = try proto.shape.map { try layer.size($0, "a size") }
            let values = try layer.elements(proto.data, shape, "its data")
            let whole = MILValue.floats(values, shape: [1, 1] + shape)
            return [
                LayerValue(
                    images: layer.floats(values, [1] + shape), [1, 1] + shape, constant: whole)
            ]
        },
        "loadConstantNd": { layer in
            let proto = layer.proto.loadConstantNd
            let shape = try proto.shape.map { try layer.size($0, "a size") }
            return [layer.known(try layer.elements(proto.data, shape, "its data"), shape)]
        },
        "rangeStatic": { layer in
            let proto = layer.proto.rangeStatic
            let step = proto.stepSizeValue == 0 ? 1 : proto.stepSizeValue
            let count = ((proto.endValue - proto.startValue) / step).rounded(.up)
            guard count >= 1, count <= Float(1 << 20) else {
                throw layer.error("a range of \(count) numbers is not supported")
            }
            try layer.create(Int(count))
            let values = (0..<Int(count)).map { proto.startValue + Float($0) * step }
            return [layer.known(values, [values.count])]
        },
        "getShape": { layer in
            let shape = try layer.input().shape
            return [layer.known(shape.map(Float.init), [shape.count])]
        },
        "fillStatic": { layer in
            let proto = layer.proto.fillStatic
            return [
                try layer.filled(
                    proto.targetShape.map { try layer.size($0, "a size") }, proto.value)
            ]
        },
        "fillLike": { layer in
            [try layer.filled(try layer.input().shape, layer.proto.fillLike.value)]
        },
    ]
}

extension ReadLayer {
    fileprivate func known(_ values: [Float], _ shape: [Int]) -> LayerValue {
        let constant = MILValue.floats(values, shape: shape)
        return LayerValue(floats(values, shape), constant: constant)
    }

    fileprivate func filled(_ shape: [Int], _ value: Float) throws -> LayerValue {
        guard !shape.isEmpty, shape.product != nil else {
            throw error("a shape of \(shape) is not supported")
        }
        return LayerValue(
            try add("fill", ["shape": .integers(shape), "value": .number(value)]))
    }
}
