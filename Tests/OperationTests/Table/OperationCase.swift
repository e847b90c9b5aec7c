import TensorGraph
import Testing

/// One line of the table: an operation with its attributes, on inputs of some shapes and ranges.
struct OperationCase: Sendable, CustomTestStringConvertible {
    let name: String
    let inputs: [CaseInput]
    let checks: Checks
    let build: @Sendable ([Tensor]) throws -> Tensor

    /// What can be asked of a case besides its value.
    enum Checks: Sendable {
        /// Gradients, and values recorded from PyTorch.
        case all
        /// One of many alike: PyTorch's values are recorded for others of its kind.
        case unrecorded
        /// The operation has no gradient.
        case forward
        /// The gradient is not the slope: PyTorch alone knows it.
        case straightThrough
    }

    init(
        _ name: String, _ inputs: CaseInput..., checks: Checks = .all,
        build: @escaping @Sendable ([Tensor]) throws -> Tensor
    ) {
        self.init(name: name, inputs: inputs, checks: checks, build: build)
    }

    init(
        name: String, inputs: [CaseInput], checks: Checks,
        build: @escaping @Sendable ([Tensor]) throws -> Tensor
    ) {
        (self.name, self.inputs, self.checks, self.build) = (name, inputs, checks, build)
    }

    var testDescription: String { name }

    var hasGradient: Bool { checks != .forward }
    /// Whether no value lies where the operation bends or jumps.
    var isSmooth: Bool {
        checks != .straightThrough && inputs.allSatisfy { $0.range != .integers }
    }
}

/// An input's shape and how its values are drawn; a bare list of extents is drawn from −1…1.
struct CaseInput: Sendable, ExpressibleByArrayLiteral {
    let shape: Shape
    let range: ValueRange

    init(arrayLiteral extents: Int...) { self.init(Shape(extents), .signed) }

    init(_ shape: Shape, _ range: ValueRange) { (self.shape, self.range) = (shape, range) }

    /// ½…2
    static func positive(_ shape: Shape) -> CaseInput { CaseInput(shape, .positive) }
    /// −8…8
    static func wide(_ shape: Shape) -> CaseInput { CaseInput(shape, .wide) }
    /// −8, −7, …, 8: many ties, and values exactly where functions bend.
    static func integers(_ shape: Shape) -> CaseInput { CaseInput(shape, .integers) }
    /// All different.
    static func distinct(_ shape: Shape) -> CaseInput { CaseInput(shape, .distinct) }
}

/// A case's graph: its inputs, its output, and the gradients of Σ output · weights.
struct CaseGraph {
    let graph = Graph()
    let inputs: [Tensor]
    let output: Tensor
    let gradients: [Tensor]
    let feeds: [String: [Float]]

    init(_ testCase: OperationCase) throws {
        let graph = graph
        inputs = testCase.inputs.enumerated().map { graph.input("input \($0)", $1.shape) }
        output = try testCase.build(inputs)
        try graph.validate()
        feeds = CaseValues.all(of: testCase, outputShape: output.shape)
        guard testCase.hasGradient else {
            gradients = []
            return
        }
        let loss = (output * graph.input("weights", output.shape)).sum()
        gradients = try TensorGraph.gradients(of: loss, withRespectTo: inputs)
    }

    var doubleFeeds: [String: [Double]] { feeds.mapValues { $0.map(Double.init) } }
}
