/// MatrixProducts of matrices.
enum MatrixProducts: OperationFamily {
    static let forms: [String: Form] = [
        "matmul": { operation in
            let x = try operation.matrix("x", transposed: "transpose_x")
            let y = try operation.matrix("y", transposed: "transpose_y")
            operation.result("MatMul", [x, y])
        },
        "linear": { try $0.linear() },
    ]
}

extension TranslatedOperation {
    fileprivate func matrix(_ parameter: String, transposed flag: String) throws -> String {
        let value = try tensor(parameter)
        let rank = try type(of: parameter).rank
        guard rank >= 2 else { throw error("its operands have to be matrices") }
        return try bool(flag, default: false) ? swapped(value, rank: rank) : value
    }

    /// Transposes the last two axes.
    private func swapped(_ value: String, rank: Int) -> String {
        var order = Array(0..<rank)
        order.swapAt(rank - 2, rank - 1)
        return step("Transpose", [value], ["perm": .ints(order)])
    }

    /// x·Wᵀ + b
    fileprivate func linear() throws {
        let (x, weight) = (try tensor("x"), try tensor("weight", as: type.dataType))
        let bias = try has("bias") ? [tensor("bias", as: type.dataType)] : []
        guard try type(of: "x").rank != 2 else {
            return result("Gemm", [x, weight] + bias, ["transB": 1])
        }
        let factors = [x, swapped(weight, rank: 2)]
        guard let bias = bias.first else { return result("MatMul", factors) }
        result("Add", [step("MatMul", factors), bias])
    }
}
