import MLPackage
import TensorGraph

/// Compressed weights, unpacked to numbers while the package is read.
///
/// Before iOS18 the parameters are attributes of the operation, from then on inputs, which may come
/// from another such operation: a table of whole numbers that has a scale, a mask that two
/// operations share.
extension RaisedOperation {
    /// The operation's outputs, each of the type that it is declared with.
    func decompressed() throws -> [MILValue] {
        let results = try unpacked()
        guard results.count == operation.outputs.count else {
            throw error(
                "it has \(operation.outputs.count) outputs where \(results.count) are due",
                "The package is damaged: export it again.")
        }
        return try zip(results, operation.outputs).map { result, output in
            guard result.type == output.type else {
                throw error(
                    "\(output.name) is declared as \(output.type) but comes out as \(result.type)",
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

    /// float16 is rounded to once, as coremltools does it.
    private func value(_ weights: UnpackedWeights) throws -> MILValue {
        let (shape, dataType) = (weights.shape, weights.dataType)
        if dataType.isFloat { return .floats(weights.numbers, shape: shape, as: dataType) }
        guard dataType.isInteger, let bits = dataType.bitWidth, bits <= 8 else {
            throw error("elements of type \(dataType) are not supported")
        }
        return .packed(weights.numbers.map { Int32($0) }, shape: shape, as: dataType)
    }
}

/// What compressed weights are on their way to numbers. Whole numbers of 8 bits are exact as
/// floats.
struct UnpackedWeights {
    var dataType: MILDataType
    var shape: [Int]
    var numbers: [Float]

    var type: MILTensorType { MILTensorType(dataType, shape) }
}

/// Parameters.
extension RaisedOperation {
    /// A parameter, which is an attribute before iOS18 and an input from then on.
    func stored(_ parameter: String) throws -> MILValue {
        guard let value = try optionallyStored(parameter) else {
            throw error(
                "its parameter \(parameter) is missing", "The package is damaged: export it again.")
        }
        return value
    }

    func optionallyStored(_ parameter: String) throws -> MILValue? {
        try operation.attributes[parameter] ?? constant(parameter)
    }

    /// A parameter's numbers, of whatever type.
    func weights(_ parameter: String) throws -> UnpackedWeights {
        try weights(try stored(parameter))
    }

    func weights(_ value: MILValue) throws -> UnpackedWeights {
        let dataType = value.type.dataType
        let numbers = dataType.isFloat ? try value.floats() : try value.integers().map { Float($0) }
        return UnpackedWeights(
            dataType: dataType, shape: value.type.shape ?? [], numbers: numbers)
    }

    /// The parameter `shape` of the forms before iOS18, with its number of elements.
    func storedShape() throws -> (shape: [Int], count: Int) {
        let shape = try stored("shape").integers().map(Int.init)
        guard let count = Shape(shape).boundedCount else {
            throw error("the shape \(shape) is out of range")
        }
        return (shape, count)
    }
}

extension RaisedOperation {
    /// `constexpr_cast`: float16 as float32.
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
