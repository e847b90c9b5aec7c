import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Products with matrices, and look-ups in them.
enum MatrixProducts: LayerFamily {
    static let readers: [String: LayerReader] = [
        "innerProduct": { try $0.innerProduct($0.proto.innerProduct) },
        "batchedMatmul": { layer in
            if layer.inputs.count == 1 {
                return try layer.product(layer.proto.batchedMatmul)
            }
            return [try layer.products(layer.proto.batchedMatmul)]
        },
        "embedding": { layer in
            let proto = layer.proto.embedding
            let table = try layer.table(
                proto.weights, proto.bias, proto.inputDim, proto.outputChannels, proto.hasBias)
            let x = try layer.input()
            guard x.shape.count >= 4, x.shape.suffix(3) == [1, 1, 1] else {
                throw layer.error("its input of \(x.shape) is not a sequence of numbers")
            }
            let numbers = try layer.squeezed(try layer.images(x), [1, 2, 3])
            let rows = try layer.rows(of: table, LayerValue(numbers))
            return [try layer.result(images: try layer.expanded(rows, [2, 3]), like: x)]
        },
        "embeddingNd": { layer in
            let proto = layer.proto.embeddingNd
            let table = try layer.table(
                proto.weights, proto.bias, proto.vocabSize, proto.embeddingSize, proto.hasBias)
            let x = try layer.input()
            guard x.shape.count >= 2, x.shape.last == 1 else {
                throw layer.error("its input of \(x.shape) has no last axis of 1")
            }
            let numbers = try layer.squeezed(try layer.exact(x), [x.shape.count - 1])
            return [LayerValue(try layer.rows(of: table, LayerValue(numbers)))]
        },
    ]
}

extension ReadLayer {
    /// x·Wᵀ + b of the last axis, or of channels, height and width together.
    fileprivate func innerProduct(_ proto: ProtoInnerProductLayerParams) throws -> [LayerValue] {
        let (input, output) = (
            try size(proto.inputChannels, "the number of input channels"),
            try size(proto.outputChannels, "the number of output channels")
        )
        let weight = try weights(proto.weights, [output, input], "the weights")
        let bias = try bias(proto.bias, output, if: proto.hasBias)
        let x = try self.input()
        guard x.shape.count >= 4 else {
            return [LayerValue(try linear(try exact(x), weight, bias))]
        }
        let images = try images(x)
        let flat =
            images.shape.suffix(2) == [1, 1]
            ? try squeezed(images, [2, 3]) : try reshaped(images, [images.shape[0], -1])
        let result = try expanded(try linear(flat, weight, bias), [2, 3])
        return [try self.result(images: result, like: x)]
    }

    private func linear(_ x: Blob, _ weight: Blob, _ bias: Blob?) throws -> Blob {
        guard x.shape.last == weight.shape.last else {
            throw error("\(x.shape) does not fit weights of \(weight.shape)")
        }
        guard x.shape.count > 3 else {
            var inputs: [String: MILOperand] = ["x": .name(x), "weight": .name(weight)]
            inputs["bias"] = bias.map { .name($0) }
            return try add("linear", inputs)
        }
        let product = try matmul(x, weight, transposeY: true)
        guard let bias else { return product }
        return try combined("add", product, bias)
    }

    private func matmul(
        _ x: Blob, _ y: Blob, transposeX: Bool = false, transposeY: Bool = false
    ) throws -> Blob {
        try add(
            "matmul",
            [
                "x": .name(x), "y": .name(y), "transpose_x": .flag(transposeX),
                "transpose_y": .flag(transposeY),
            ])
    }

    /// The product with a matrix that the layer contains.
    fileprivate func product(_ proto: ProtoBatchedMatMulLayerParams) throws -> [LayerValue] {
        let rows = try size(proto.weightMatrixFirstDimension, "the number of rows")
        let columns = try size(proto.weightMatrixSecondDimension, "the number of columns")
        let weight = try weights(proto.weights, [columns, rows], "the weights")
        let bias = try bias(proto.bias, columns, if: proto.hasBias)
        return try mapExact { try linear($0, weight, bias) }
    }

    /// The product of two values; a vector is a row on the left, a column on the right.
    fileprivate func products(_ proto: ProtoBatchedMatMulLayerParams) throws -> LayerValue {
        let pair = try inputs(2)
        var (x, y) = (try exact(pair[0]), try exact(pair[1]))
        if x.shape.count == 1 { x = try expanded(x, [0]) }
        if y.shape.count == 1 { y = try expanded(y, [1]) }
        return LayerValue(
            try matmul(x, y, transposeX: proto.transposeA, transposeY: proto.transposeB))
    }

    /// The table of an embedding with its bias, [numbers, size].
    fileprivate func table(
        _ proto: ProtoWeightParams, _ bias: ProtoWeightParams, _ numbers: UInt64, _ size: UInt64,
        _ hasBias: Bool
    ) throws -> Blob {
        let count = try self.size(numbers, "the number of rows")
        let size = try self.size(size, "the size of a row")
        let stored = try elements(proto, [size, count], "the weights")
        let offsets = hasBias ? try elements(bias, [size], "the bias") : nil
        var table = [Float](repeating: 0, count: count * size)
        for column in 0..<size {
            for row in 0..<count {
                table[row * size + column] =
                    stored[column * count + row] + (offsets?[column] ?? 0)
            }
        }
        return floats(table, [count, size])
    }

    fileprivate func rows(of table: Blob, _ numbers: LayerValue) throws -> Blob {
        try add(
            "gather",
            [
                "x": .name(table), "indices": .name(try indices(numbers)), "axis": .integer(0),
            ])
    }
}
