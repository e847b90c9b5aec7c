import RetintGraph
import RetintTensors

/// One line of the table: an operation with its attributes, on inputs of some shapes and ranges.
package struct OperationCase: Sendable {
    package let name: String
    package let inputs: [CaseInput]
    /// How many of the inputs, counted from the last, a network would have as weights: variables of
    /// the graph that is converted to MIL.
    package let weights: Int
    package let checks: Checks
    /// The types of MIL that the case is lowered to, in order; nil if it is not lowered.
    package let mil: [String]?
    package let build: @Sendable ([Tensor]) throws -> Tensor

    /// What is checked of a case besides its value.
    package enum Checks: Sendable {
        /// Gradients, and values recorded from PyTorch.
        case all
        /// Gradients; PyTorch's values are recorded for other cases of the operation.
        case unrecorded
        /// Values recorded from PyTorch: the operation has no gradient.
        case forward
        /// Values recorded from PyTorch: the gradient differs from the slope.
        case straightThrough
    }

    package init(
        _ name: String, _ inputs: CaseInput..., weights: Int = 0, checks: Checks = .all,
        mil: [String]? = nil, build: @escaping @Sendable ([Tensor]) throws -> Tensor
    ) {
        (self.name, self.inputs, self.weights, self.checks) = (name, inputs, weights, checks)
        (self.mil, self.build) = (mil, build)
    }

    init(
        name: String, inputs: [CaseInput], checks: Checks,
        build: @escaping @Sendable ([Tensor]) throws -> Tensor
    ) {
        (self.name, self.inputs, self.checks, self.build) = (name, inputs, checks, build)
        (weights, mil) = (0, nil)
    }

    package var hasGradient: Bool { checks != .forward }
    /// Whether no value lies where the operation has a kink or a jump.
    package var isSmooth: Bool {
        checks != .straightThrough && inputs.allSatisfy { $0.range != .integers }
    }
}

extension OperationCase: CustomStringConvertible {
    package var description: String { name }
}

/// An input's shape and how its values are drawn; a bare list of extents is drawn from −1…1.
package struct CaseInput: Sendable, ExpressibleByArrayLiteral {
    package let shape: Shape
    package let range: ValueRange

    package init(arrayLiteral extents: Int...) { self.init(Shape(extents), .signed) }

    package init(_ shape: Shape, _ range: ValueRange) {
        (self.shape, self.range) = (shape, range)
    }

    /// ½…2
    package static func positive(_ shape: Shape) -> CaseInput { CaseInput(shape, .positive) }
    /// −8…8
    package static func wide(_ shape: Shape) -> CaseInput { CaseInput(shape, .wide) }
    /// −8, −7, …, 8: many ties, and values exactly at kinks and jumps.
    package static func integers(_ shape: Shape) -> CaseInput { CaseInput(shape, .integers) }
    /// All different.
    package static func distinct(_ shape: Shape) -> CaseInput { CaseInput(shape, .distinct) }
}
