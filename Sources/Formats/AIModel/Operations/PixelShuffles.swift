import RetintMIL
import RetintMLPackage

/// Pixel shuffles. The dialect has no such operation.
enum PixelShuffles: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "pixel_shuffle": { graph, operation in
            let x = try operation.value("x")
            try graph.requireImages(x)
            let factor = try operation.factor("upscale_factor")
            let (height, width) = (x.shape[2], x.shape[3])
            let channels = x.shape[1] / (factor * factor)
            guard channels * factor * factor == x.shape[1] else {
                throw NotWritable(
                    "the channels of \(x.type) do not fill \(factor)×\(factor) pixels")
            }
            return [
                try graph.rearranged(
                    x, [x.shape[0], channels, factor, factor, height, width], [0, 1, 4, 2, 5, 3],
                    [x.shape[0], channels, height * factor, width * factor])
            ]
        },
        "pixel_unshuffle": { graph, operation in
            let x = try operation.value("x")
            try graph.requireImages(x)
            let factor = try operation.factor("downscale_factor")
            let (height, width) = (x.shape[2] / factor, x.shape[3] / factor)
            guard height * factor == x.shape[2], width * factor == x.shape[3] else {
                throw NotWritable("\(x.type) cannot be cut into \(factor)×\(factor) pixels")
            }
            return [
                try graph.rearranged(
                    x, [x.shape[0], x.shape[1], height, factor, width, factor],
                    [0, 1, 3, 5, 2, 4], [x.shape[0], x.shape[1] * factor * factor, height, width])
            ]
        },
    ]

    static let readers: [String: OperationReader] = [:]
}

extension GraphWriter {
    fileprivate func rearranged(
        _ x: WrittenValue, _ split: [Int], _ order: [Int], _ joined: [Int]
    ) throws -> WrittenValue {
        try reshaped(try transposed(try reshaped(x, split), order), joined)
    }
}
