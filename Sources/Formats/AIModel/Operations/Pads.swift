import RetintGraph
import RetintMLPackage

/// Padding.
enum Pads: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "pad": { graph, operation in [try graph.pad(operation)] }
    ]

    static let readers: [String: OperationReader] = [
        "primitive.pad_v1": { graph, operation in [try graph.pad(operation)] }
    ]
}

extension GraphWriter {
    /// Adds rows and columns to an image.
    func padded(
        _ x: WrittenValue, _ padding: Padding, with value: Float
    ) throws -> WrittenValue {
        let amounts = [padding.top, padding.bottom, padding.left, padding.right]
        guard amounts.contains(where: { $0 != 0 }) else { return x }
        return try padded(x, [0, 0, 0, 0] + amounts, .constant, with: value)
    }

    private func padded(
        _ x: WrittenValue, _ amounts: [Int], _ mode: PaddingMode, with value: Float
    ) throws -> WrittenValue {
        guard amounts.allSatisfy({ $0 >= 0 }) else {
            throw NotWritable("a pad with negative amounts is not written")
        }
        let shape = x.shape.indices.map { x.shape[$0] + amounts[2 * $0] + amounts[2 * $0 + 1] }
        return try add(
            "primitive.pad_v1", [x, try unsigned(amounts), try number(value, as: x.dataType)],
            x.type(shape), mode: (Dialect.AttributeCode.paddingMode, mode.rawValue))
    }

    fileprivate func pad(_ operation: WrittenOperation) throws -> WrittenValue {
        let x = try operation.value("x")
        let amounts = try operation.requiredIntegers("pad")
        guard amounts.count <= 2 * x.shape.count else {
            throw NotWritable("\(amounts.count) amounts of padding do not fit \(x.type)")
        }
        let modes: [String: PaddingMode] = [
            "constant": .constant, "reflect": .reflect, "replicate": .replicate,
        ]
        let text = try operation.string("mode", default: "constant")
        guard let mode = modes[text] else {
            throw NotWritable("the mode \(text) of pad has no counterpart")
        }
        let others = [Int](repeating: 0, count: 2 * x.shape.count - amounts.count)
        return try padded(
            x, others + amounts, mode,
            with: try operation.float("constant_val", default: 0))
    }
}

extension GraphReader {
    fileprivate func pad(_ operation: ReadOperation) throws -> ReadValue {
        let amounts = try operation.integers(1)
        let modes: [PaddingMode: String] = [
            .constant: "constant", .reflect: "reflect", .replicate: "replicate",
        ]
        guard let mode = PaddingMode(rawValue: try operation.mode()), let text = modes[mode] else {
            throw operation.error("its padding mode is not supported")
        }
        let x = try operation.value(0)
        let value = mode == .constant ? try operation.number(2) : 0
        let result = try add(
            "pad",
            [
                "x": operation.operand(0), "pad": .integers(amounts),
                "mode": .constant(.string(text)),
                "constant_val": .constant(.float(value, as: x.type.dataType)),
            ], operation)
        if mode == .constant, value == 0 { remember(padding: amounts, of: x, as: result) }
        return result
    }
}
