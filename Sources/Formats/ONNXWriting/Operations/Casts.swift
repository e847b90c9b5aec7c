import RetintMLPackage

enum Casts: OperationFamily {
    static let forms: [String: Form] = [
        "cast": { operation in
            let name = try operation.string("dtype", default: "")
            guard let dataType = types[name] else {
                throw operation.error("a cast to \"\(name)\" is not supported")
            }
            operation.result(
                "Cast", [try operation.tensor("x")],
                ["to": try TranslatedOperation.target(dataType, operation)])
        }
    ]

    private static let types: [String: MILDataType] = [
        "bool": .bool, "fp16": .float16, "fp32": .float32, "int8": .int8, "int16": .int16,
        "int32": .int32, "uint8": .uint8, "uint16": .uint16,
    ]
}
