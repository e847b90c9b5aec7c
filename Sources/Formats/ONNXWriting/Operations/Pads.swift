enum Pads: OperationFamily {
    static let forms: [String: Form] = ["pad": { try $0.pad() }]

    private static let modes = ["constant": "constant", "reflect": "reflect", "replicate": "edge"]

    fileprivate static func mode(_ operation: TranslatedOperation) throws -> String {
        let name = try operation.string("mode", default: "constant")
        guard let mode = modes[name] else {
            throw operation.error("the mode \"\(name)\" is not supported")
        }
        return mode
    }
}

extension TranslatedOperation {
    /// MIL lists the amounts before and after for each of the last axes, ONNX all before and then
    /// all after.
    fileprivate func pad() throws {
        let (mode, rank) = try (Pads.mode(self), type(of: "x").rank)
        let amounts = try requiredIntegers("pad")
        guard amounts.count.isMultiple(of: 2), amounts.count <= 2 * rank else {
            throw error("\(amounts.count) amounts do not fit rank \(rank)")
        }
        let all = [Int](repeating: 0, count: 2 * rank - amounts.count) + amounts
        let before = (0..<rank).map { all[2 * $0] }
        let after = (0..<rank).map { all[2 * $0 + 1] }
        var inputs = [try tensor("x"), try integers(before + after, "pads")]
        if mode == "constant" {
            inputs.append(try number(float("constant_val", default: 0), "value"))
        }
        result("Pad", inputs, ["mode": .string(mode)])
    }
}
