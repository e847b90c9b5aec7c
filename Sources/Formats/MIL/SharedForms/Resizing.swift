import RetintGraph
import RetintMLPackage

extension RaisedOperation {
    /// The upsampling factors, after rounding the output size down.
    ///
    /// - Throws: ``ConversionError`` if they are not integers.
    func factor(_ x: Tensor) throws -> Pair { try factor(x, to: try scaledSize(x)) }

    /// The output height and width, rounded down.
    func scaledSize(_ x: Tensor) throws -> Pair {
        try requireImage(x)
        let height = try float("scale_factor_height", default: 1) * Float(x.shape[2])
        let width = try float("scale_factor_width", default: 1) * Float(x.shape[3])
        let range: Range<Float> = 1..<0x1p24
        guard range.contains(height), range.contains(width) else {
            throw error("the scale factors are out of range")
        }
        return Pair(Int(height), Int(width))
    }

    func factor(_ x: Tensor, to size: Pair) throws -> Pair {
        try requireImage(x)
        guard let factor = x.integerFactor(to: size) else {
            throw error(
                "\(x.shape[2])×\(x.shape[3]) to \(size.height)×\(size.width) is not an upsampling "
                    + "by integer factors")
        }
        return factor
    }

    /// Uses the engine's bilinear upsampling for integer factors, matrix products otherwise.
    func bilinear(_ x: Tensor, to size: Pair, _ grid: Resampling.Grid) throws -> Tensor {
        try requireImage(x)
        if let factor = x.integerFactor(to: size), grid != .legacy {
            return upsampleBilinear(x, factor: factor, alignCorners: grid == .alignedCorners)
        }
        let side = 1...(1 << 13)
        guard side.contains(size.height), side.contains(size.width), side.contains(x.shape[2]),
            side.contains(x.shape[3])
        else { throw error("a size of \(size.height)×\(size.width) is out of range") }
        return Resampling(grid: grid).resized(x, to: size)
    }
}

extension Tensor {
    /// The factors from an image's size to a multiple of it; nil for any other size.
    fileprivate func integerFactor(to size: Pair) -> Pair? {
        guard size.height >= shape[2], size.width >= shape[3], size.height % shape[2] == 0,
            size.width % shape[3] == 0
        else { return nil }
        return Pair(size.height / shape[2], size.width / shape[3])
    }
}
