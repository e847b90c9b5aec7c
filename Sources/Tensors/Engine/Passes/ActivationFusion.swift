import RetintCompiler
import RetintGraph
import RetintTensors

/// Replaces the formula of GELU, x/2·(1 + erf(x/√2)), by one operation.
struct ActivationFusion: GraphPass {
    static let name = "fuse activations"

    func run(on input: GraphPassInput) -> GraphPassResult {
        let pattern = GraphPattern(input)
        return GraphRewrite.run(on: input) { rewrite, id in
            geluInput(id, pattern).map { rewrite.copy(of: $0).applying(Gelu()) }
        }
    }

    /// The x of the formula that a node is.
    private func geluInput(_ id: Int, _ pattern: GraphPattern) -> Int? {
        guard pattern.operation(id, as: Multiply.self) != nil else { return nil }
        // The order of the three factors does not matter.
        var (factors, scale) = ([Int](), Float(1))
        collect(id, depth: 0, &factors, &scale, pattern)
        guard factors.count == 2, scale == 0.5 else { return nil }
        for (x, sum) in [(factors[0], factors[1]), (factors[1], factors[0])] {
            if isErrorFunctionAndOne(sum, of: x, pattern), pattern.shape(x) == pattern.shape(id) {
                return x
            }
        }
        return nil
    }

    /// The factors of a product of products, and the product of those that are constant.
    private func collect(
        _ id: Int, depth: Int, _ factors: inout [Int], _ scale: inout Float,
        _ pattern: GraphPattern
    ) {
        if let constant = pattern.constant(id) {
            scale *= constant
        } else if pattern.operation(id, as: Multiply.self) != nil, depth < 2,
            depth == 0 || pattern.isUsed(id, 1)
        {
            for factor in pattern.inputs(id) {
                collect(factor, depth: depth + 1, &factors, &scale, pattern)
            }
        } else {
            factors.append(id)
        }
    }

    /// Whether a node is 1 + erf(x/√2).
    private func isErrorFunctionAndOne(_ id: Int, of x: Int, _ pattern: GraphPattern) -> Bool {
        guard pattern.operation(id, as: Add.self) != nil, pattern.isUsed(id, 1),
            let (error, one) = pattern.withConstant(pattern.inputs(id)), one == 1,
            pattern.operation(error, as: ErrorFunction.self) != nil, pattern.isUsed(error, 1)
        else { return false }
        let argument = pattern.inputs(error)[0]
        guard pattern.isUsed(argument, 1),
            let (value, factor) = pattern.withConstant(pattern.inputs(argument)), value == x
        else { return false }
        let root = Float(2).squareRoot()
        if pattern.operation(argument, as: Multiply.self) != nil {
            return abs(factor * root - 1) < 1e-6
        }
        return pattern.operation(argument, as: Divide.self) != nil
            && pattern.inputs(argument)[0] == x && abs(factor / root - 1) < 1e-6
    }
}
