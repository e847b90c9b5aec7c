import RetintMLPackage

/// Scales with zero points of the same shape, as ONNX takes them.
struct QuantizationGrid {
    private(set) var scale: MILValue
    private(set) var zeroPoint: MILValue?

    /// The number of scales.
    var count: Int { scale.type.elementCount ?? 0 }

    /// Repeats a single scale or zero point for each of several others.
    ///
    /// - Parameters:
    ///   - zeroPoint: of any type; nil for zeros.
    ///   - dataType: the type of the quantized values and the zero points.
    /// - Throws: `ConversionError` if zero points are not of that type's values, or of another
    ///   number than the scales.
    init(
        scale: MILValue, zeroPoint: MILValue?, _ dataType: MILDataType,
        _ operation: TranslatedOperation
    ) throws {
        self.scale = scale
        let zeros = try zeroPoint.map { try Self.integers($0, dataType, operation) }
        let count = max(count, zeros?.count ?? 0)
        guard [1, count].contains(self.count), [1, count].contains(zeros?.count ?? 1) else {
            throw operation.error(
                "\(zeros?.count ?? 0) zero points do not fit \(self.count) scales")
        }
        if self.count < count {
            let scales = [Float](repeating: try scale.floats()[0], count: count)
            self.scale = .floats(scales, as: scale.type.dataType)
        } else if count == 1 {
            self.scale = scale.reshaped([])
        }
        guard let zeros else { return }
        let all = zeros.count < count ? [Int32](repeating: zeros[0], count: count) : zeros
        self.zeroPoint = .packed(all, shape: self.scale.type.shape, as: dataType)
    }

    private static func integers(
        _ value: MILValue, _ dataType: MILDataType, _ operation: TranslatedOperation
    ) throws -> [Int32] {
        let integers =
            value.type.dataType.isFloat
            ? try value.floats().compactMap { Int32(exactly: $0) } : try value.integers()
        let bits = dataType.bitWidth ?? 8
        let range: ClosedRange<Int32> =
            dataType.isSigned ? -(1 << (bits - 1))...((1 << (bits - 1)) - 1) : 0...((1 << bits) - 1)
        guard integers.count == value.type.elementCount, integers.allSatisfy(range.contains) else {
            throw operation.error("its zero points are not values of \(dataType)")
        }
        return integers
    }

    /// The grid reshaped.
    func reshaped(_ shape: [Int]) -> QuantizationGrid {
        var grid = self
        grid.scale = scale.reshaped(shape)
        grid.zeroPoint = zeroPoint?.reshaped(shape)
        return grid
    }

    /// Repeats the numbers along axes of extent 1, up to `shape`.
    func repeated(to shape: [Int]) throws -> QuantizationGrid {
        var grid = self
        grid.scale = .floats(
            try scale.floats().repeated(from: scale.type.shape ?? [], to: shape), shape: shape,
            as: scale.type.dataType)
        grid.zeroPoint = try zeroPoint.map { zeros in
            .packed(
                try zeros.integers().repeated(from: zeros.type.shape ?? [], to: shape),
                shape: shape, as: zeros.type.dataType)
        }
        return grid
    }

    /// The names of the scales and of the zero points. Before opset 19, scales are float32.
    func inputs(_ operation: TranslatedOperation) throws -> [String] {
        var scale = scale
        if operation.opset < 19, scale.type.dataType == .float16 {
            scale = .floats(try scale.floats(), shape: scale.type.shape)
        }
        let zero = try zeroPoint.map { [try operation.constant($0, "zero_point")] } ?? []
        return [try operation.constant(scale, "scale")] + zero
    }
}

extension MILValue {
    func reshaped(_ shape: [Int]) -> MILValue {
        MILValue(type: MILTensorType(type.dataType, shape), content: content)
    }
}

extension Array {
    /// The elements of a tensor of shape `shape` in one of shape `larger`, which differs from it
    /// where it has an extent of 1.
    fileprivate func repeated(from shape: [Int], to larger: [Int]) -> [Element] {
        var (result, inner) = (self, 1)
        for axis in larger.indices.reversed() {
            if shape[axis] != larger[axis] {
                result = stride(from: 0, to: result.count, by: Swift.max(inner, 1)).flatMap {
                    start in
                    let row = result[start..<start + inner]
                    return (0..<larger[axis]).flatMap { _ in row }
                }
            }
            inner *= larger[axis]
        }
        return result
    }
}
