import RetintGraph
import RetintTensors
import Testing

/// What differentiation does to a graph; the gradients' values are checked by OperationTests.
@Suite struct DifferentiationTests {
    let graph = Graph()

    @Test func gradientsHaveTheShapesOfTheirVariables() throws {
        let x = graph.input("x", [2, 3, 4, 5])
        let weight = graph.variable("weight", [7, 3, 3, 3], role: .parameter)
        let bias = graph.variable("bias", [7], role: .parameter)
        let loss = relu(conv2d(x, weight: weight, bias: bias, padding: 1)).mean()
        let found = try gradients(of: loss, withRespectTo: [bias, x, weight])
        #expect(found.map(\.shape) == [bias.shape, x.shape, weight.shape])
    }

    @Test func usesOfASharedExpressionAddUp() throws {
        let x = graph.variable("x", [], role: .parameter)
        let square = x * x
        let loss = square * 3 + square * 4
        let gradient = try gradients(of: loss, withRespectTo: [x])[0]
        // d/dx (3x² + 4x²) = 14x
        #expect(try scalar(gradient, at: ["x": 2.5]) == 35)
    }

    @Test func aLongChainOfSharedExpressionsStaysSmall() throws {
        let x = graph.variable("x", [], role: .parameter)
        let loss = (0..<40).reduce(x) { sum, _ in sum + sum }
        let gradient = try gradients(of: loss, withRespectTo: [x])[0]
        #expect(graph.nodes.count < 200, "2⁴⁰ paths, but one gradient a node")
        #expect(try scalar(gradient, at: ["x": 1]) == 0x1p40)
    }

    @Test func theLossIsOneWithRespectToItself() throws {
        let x = graph.variable("x", [], role: .parameter)
        #expect(try scalar(gradients(of: x, withRespectTo: [x])[0], at: [:]) == 1)
    }

    @Test func whatTheLossDoesNotUseHasGradientZero() throws {
        let x = graph.variable("x", [3], role: .parameter)
        let unused = graph.variable("unused", [2, 2], role: .parameter)
        let gradient = try gradients(of: x.sum(), withRespectTo: [unused])[0]
        #expect(constant(gradient) == TensorData(shape: [2, 2], repeating: 0))
    }

    @Test func nothingPassesAComparison() throws {
        let x = graph.variable("x", [3], role: .parameter)
        let gradient = try gradients(of: greater(x, 0).sum(), withRespectTo: [x])[0]
        #expect(constant(gradient) == TensorData(shape: [3], repeating: 0))
    }

    @Test func onlyNeededGradientsAreBuilt() throws {
        let x = graph.input("x", [1, 3, 5, 5])
        let weight = graph.variable("weight", [2, 3, 3, 3], role: .parameter)
        let loss = conv2d(x, weight: weight).sum()
        _ = try gradients(of: loss, withRespectTo: [weight])
        let names = graph.nodes.map(\.operation.name)
        #expect(names.contains("conv2d_weight"))
        #expect(!names.contains("conv_transpose2d"))
    }

    @Test func aTargetMayLieInsideTheGraph() throws {
        let x = graph.input("x", [2, 3, 4])
        let (weight, bias) = (graph.input("w", [3]), graph.input("b", [3]))
        let (y, moments) = batchNormTraining(x, weight: weight, bias: bias)
        let loss = moments.sum() + y.sum() * 0
        // The moments themselves have no gradient rule, and need none as the place to stop.
        let found = try gradients(of: loss, withRespectTo: [moments])
        #expect(found[0].shape == [2, 3])
    }

    @Test func aSecondDerivativeIsOneMoreTransformation() throws {
        let x = graph.variable("x", [], role: .parameter)
        let first = try gradients(of: x * x * x, withRespectTo: [x])[0]
        let second = try gradients(of: first, withRespectTo: [x])[0]
        #expect(try scalar(second, at: ["x": 2]) == 12)
    }

    @Test func theLossMustBeOneNumber() {
        let x = graph.variable("x", [2, 3], role: .parameter)
        let error = #expect(throws: GraphError.self) {
            try gradients(of: exp(x), withRespectTo: [x])
        }
        #expect(
            error?.description
                == "gradients: the loss must be one number; take its mean or sum first "
                + "(inputs: [2, 3])")
    }

    @Test func aBrokenGraphIsNotDifferentiated() {
        let x = graph.variable("x", [2, 3], role: .parameter)
        let loss = x.reshaped([5]).sum()
        let error = #expect(throws: GraphError.self) {
            try gradients(of: loss, withRespectTo: [x])
        }
        #expect(error?.operation == "reshape")
    }

    @Test func anOperationWithoutGradientIsNamedWithItsModule() {
        let x = graph.variable("x", [2, 3], role: .parameter)
        let w = graph.variable("w", [3], role: .parameter)
        let moments = graph.inModule("norm") {
            batchNormTraining(x, weight: w, bias: w).moments
        }
        let error = #expect(throws: GraphError.self) {
            try gradients(of: moments.sum(), withRespectTo: [x])
        }
        #expect(error?.operation == "batch_moments")
        #expect(error?.module == "norm")
        #expect(error?.inputShapes == [[2, 3]])
    }

    @Test func variablesOfAnotherGraphAreRefused() {
        let foreign = Graph()
        _ = foreign.input("a", [1])
        let x = foreign.input("x", [2])
        let loss = graph.input("loss", [])
        let error = #expect(throws: GraphError.self) {
            try gradients(of: loss, withRespectTo: [x])
        }
        #expect(error?.reason == "a variable belongs to another graph")
    }

    private func constant(_ tensor: Tensor) -> TensorData? {
        (tensor.operation as? Constant)?.data
    }

    /// Evaluates additions and multiplications of rank-0 tensors.
    private func scalar(_ tensor: Tensor, at variables: [String: Float]) throws -> Float {
        var values: [Int: Float] = [:]
        for id in tensor.graph.live(from: [tensor.id]) {
            let node = tensor.graph.nodes[id]
            let inputs = node.inputs.map { values[$0]! }
            switch node.operation {
            case let variable as Variable: values[id] = variables[variable.variableName]
            case let constant as Constant: values[id] = constant.data.scalars[0]
            case is Add: values[id] = inputs[0] + inputs[1]
            case is Multiply: values[id] = inputs[0] * inputs[1]
            default: throw UnexpectedOperation(name: node.operation.name)
            }
        }
        return try #require(values[tensor.id])
    }
}

struct UnexpectedOperation: Error {
    let name: String
}
