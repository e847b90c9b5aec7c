import RetintGraph
import RetintMLPackage
import RetintTensors

/// Decompresses weights while a package is read.
///
/// Before iOS18 the parameters are attributes of the operation. From iOS18 on they are inputs,
/// which may be outputs of another constexpr operation: for example a quantized lookup table, or a
/// mask that two operations share.
extension RaisedOperation {
    /// The operation's outputs, checked against their declared types.
    func decompressed() throws -> [MILValue] {
        let results = try unpacked()
        guard results.count == operation.outputs.count else {
            throw error(
                "it has \(operation.outputs.count) outputs, but \(results.count) are expected",
                "The package is damaged: export it again.")
        }
        return try zip(results, operation.outputs).map { result, output in
            guard result.type == output.type else {
                throw error(
                    "\(output.name) is declared as \(output.type) but evaluates to \(result.type)",
                    "The package is damaged: export it again.")
            }
            return try value(result)
        }
    }

    private func unpacked() throws -> [UnpackedWeights] {
        switch type {
        case "constexpr_affine_dequantize": [try affine()]
        case "constexpr_blockwise_shift_scale":
            [try shiftScale(try weights("data"))]
        case "constexpr_sparse_blockwise_shift_scale": try sparseShiftScale()
        case "constexpr_lut_to_dense":
            [try stored("lut").type.rank == 1 ? packedLookUp() : lookUp(weights("indices"))]
        case "constexpr_lut_to_sparse": try sparseLookUp()
        case "constexpr_sparse_to_dense": [try sparse()]
        case "constexpr_cast": [try castUp()]
        default: throw error("weights compressed by \(type) are not supported")
        }
    }

    /// Rounds to float16 once, at the end, as coremltools does.
    private func value(_ weights: UnpackedWeights) throws -> MILValue {
        let (shape, dataType) = (weights.shape, weights.dataType)
        if dataType.isFloat { return .floats(weights.scalars, shape: shape, as: dataType) }
        guard dataType.isInteger, let bits = dataType.bitWidth, bits <= 8 else {
            throw error("elements of type \(dataType) are not supported")
        }
        let integers = weights.scalars.compactMap { Int32(exactly: $0) }
        guard integers.count == weights.scalars.count else {
            throw error("its elements are not integers, as \(dataType) requires")
        }
        return .packed(integers, shape: shape, as: dataType)
    }
}

/// Weights during decompression. Integers of up to 8 bits are exact as floats.
struct UnpackedWeights {
    var dataType: MILDataType
    var shape: [Int]
    var scalars: [Float]

    var type: MILTensorType { MILTensorType(dataType, shape) }
}

/// Parameters of constexpr operations.
extension OperationParameters {
    /// A parameter: an attribute before iOS18, an input from iOS18 on.
    package func stored(_ parameter: String) throws -> MILValue {
        guard let value = try optionallyStored(parameter) else {
            throw error(
                "its parameter \(parameter) is missing", "The package is damaged: export it again.")
        }
        return value
    }

    package func optionallyStored(_ parameter: String) throws -> MILValue? {
        try operation.attributes[parameter] ?? constant(parameter)
    }
}

extension RaisedOperation {
    /// A parameter's values as floats, whatever its element type.
    func weights(_ parameter: String) throws -> UnpackedWeights {
        try weights(try stored(parameter))
    }

    func weights(_ value: MILValue) throws -> UnpackedWeights {
        let dataType = value.type.dataType
        let scalars = dataType.isFloat ? try value.floats() : try value.integers().map { Float($0) }
        return UnpackedWeights(
            dataType: dataType, shape: value.type.shape ?? [], scalars: scalars)
    }

    /// The parameter `shape` of operations before iOS18, with the number of elements.
    func storedShape() throws -> (shape: [Int], count: Int) {
        let shape = try stored("shape").integers().map(Int.init)
        guard let count = Shape(shape).boundedCount else {
            throw error("the shape \(shape) is out of range")
        }
        return (shape, count)
    }
}

extension RaisedOperation {
    /// `constexpr_cast`: float16 to float32.
    private func castUp() throws -> UnpackedWeights {
        let name = try stored("output_dtype").strings()
        guard name == ["fp32"] else { throw error("a cast to \(name) is not supported") }
        var weights = try weights("source_val")
        guard weights.dataType == .float16 else {
            throw error("a cast of \(weights.dataType) is not supported")
        }
        weights.dataType = .float32
        return weights
    }
}
