import RetintMLPackage

/// 8-bit values between operations. float16 scales came with opset 19; before, the values
/// are cast.
enum ActivationQuantization: OperationFamily {
    static let forms: [String: Form] = [
        "quantize": { operation in
            let x = try operation.type(of: "input").dataType
            var value = try operation.tensor("input")
            if x == .float16, operation.opset < 19 {
                value = try operation.cast(value, to: .float32)
            }
            let (inputs, attributes) = try operation.grid(operation.type.dataType)
            operation.result("QuantizeLinear", [value] + inputs, attributes)
        },
        "dequantize": { operation in
            let data = try operation.type(of: "input").dataType
            let (inputs, attributes) = try operation.grid(data)
            let value = try operation.tensor("input")
            guard operation.type.dataType == .float16, operation.opset < 19 else {
                return operation.result("DequantizeLinear", [value] + inputs, attributes)
            }
            let wide = operation.step("DequantizeLinear", [value] + inputs, attributes)
            operation.result(
                "Cast", [wide], ["to": try TranslatedOperation.target(.float16, operation)])
        },
    ]
}

extension TranslatedOperation {
    /// Scale and zero point, and the axis if there are several.
    fileprivate func grid(
        _ dataType: MILDataType
    ) throws -> (inputs: [String], attributes: Attributes) {
        guard [.int8, .uint8].contains(dataType), let scale = try constant("scale") else {
            throw error("a scale and values of int8 or uint8 are needed")
        }
        let zero = try constant("zero_point") ?? .packed([0], shape: [], as: dataType)
        let rank = try type(of: "input").rank
        let grid = try QuantizationGrid(scale: scale, zeroPoint: zero, dataType, self)
        guard grid.count > 1 else { return (try grid.inputs(self), [:]) }
        try require(opset: 13, for: "scales per channel")
        return (try grid.inputs(self), ["axis": .int(try axis("axis", rank: rank))])
    }
}
