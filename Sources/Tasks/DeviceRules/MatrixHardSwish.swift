import RetintMLPackage

/// Matrix products of rank 2 and the hard swish of each, which are computed correctly with rank 4
/// (apple/coreai-torch, issue 51).
struct MatrixHardSwish {
    /// The names of the values that get the shape [1, 1, M, N]: the product, and the values
    /// computed elementwise from it and constants.
    let values: Set<String>

    private static let elementwise: Set = [
        "add", "sub", "mul", "real_div", "relu6", "clip", "sigmoid_hard",
    ]

    init(_ program: MILProgram, _ context: PlacedOperation.Context) {
        let placed = program.operations.map { PlacedOperation(operation: $0, context: context) }
        var values = Set(placed.compactMap { $0.matrixUnderHardSwish?.name })
        for operation in placed where Self.elementwise.contains(operation.type) {
            let inputs = operation.operation.inputs.values.joined().compactMap(\.name)
                .filter { context.constants[$0] == nil }
            let first = inputs.first.flatMap { context.types[$0] }
            if !inputs.isEmpty, inputs.allSatisfy(values.contains), operation.output == first {
                values.insert(operation.name)
            }
        }
        self.values = values
    }
}

extension PlacedOperation {
    /// The matrix product of rank 2 whose hard swish the operation belongs to; otherwise nil.
    var matrixUnderHardSwish: PlacedOperation? {
        guard isHalf, let product = hardSwishInput, product.output?.rank == 2,
            ["linear", "matmul"].contains(product.type)
        else { return nil }
        return product
    }
}

extension ProgramRewriting {
    /// Adds an operation with the shape [1, 1, M, N], and its value with the original shape, for
    /// its other uses.
    mutating func raiseRank(_ operation: PlacedOperation) {
        guard let shape = operation.output?.shape else { return }
        let ranked = [1, 1] + shape
        var inputs = operation.operation.inputs
        for (key, value) in inputs {
            if let name = value.first?.name, let other = withRank4[name] {
                inputs[key] = [.name(other)]
            } else if operation.isComputed(key), let own = operation.input(key)?.shape {
                let size = constant([1, 1] + own)
                inputs[key] = [add("reshape", ["x": value, "shape": [size]], [1, 1] + own)]
            }
        }
        let result =
            operation.type == "linear"
            ? product(inputs, ranked) : add(operation.type, inputs, ranked)
        withRank4[operation.name] = result.name
        finish("reshape", ["x": [result], "shape": [constant(shape)]])
    }

    /// `linear` does not take tensors of rank 4.
    private mutating func product(
        _ inputs: [String: [MILArgument]], _ shape: [Int]
    ) -> MILArgument {
        var operands = ["x": inputs["x"] ?? [], "y": inputs["weight"] ?? []]
        operands["transpose_x"] = [constant(false)]
        operands["transpose_y"] = [constant(true)]
        let product = add("matmul", operands, shape)
        guard let bias = inputs["bias"] else { return product }
        return add("add", ["x": [product], "y": bias], shape)
    }
}
