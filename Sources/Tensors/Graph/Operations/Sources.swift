public import RetintTensors

/// A value that is passed to each run of a program.
package struct Input: Operation {
    package static let name = "input"
    package let inputName: String
    package let shape: Shape

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { shape }
}

/// A value that a program keeps from run to run: a parameter, a buffer, an optimizer's state.
public struct Variable: Operation {
    /// The purpose of a variable; decides what is trained, saved and exported.
    public enum Role: Hashable, Sendable {
        /// Learned by gradient descent.
        case parameter
        /// Updated without gradients, such as running statistics.
        case buffer
        /// The state of an optimizer; stored in checkpoints and never exported.
        case optimizerState
        /// Set before a run, such as the learning rate.
        case setting
    }

    /// The name in messages and reports.
    public static let name = "variable"
    /// The name in the state dict.
    package let variableName: String
    package let shape: Shape
    package let role: Role

    /// The variable's own shape.
    public func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { shape }
}

/// A value that never changes.
package struct Constant: Operation {
    package static let name = "constant"
    package let data: TensorData

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { data.shape }

    /// Compares bits, not values: −0 differs from 0, and NaN equals itself.
    package static func == (x: Constant, y: Constant) -> Bool {
        x.data.shape == y.data.shape
            && x.data.scalars.elementsEqual(y.data.scalars) { $0.bitPattern == $1.bitPattern }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(data)
    }
}

extension Graph {
    /// A value that is passed to each run under `name`.
    public func input(_ name: String, _ shape: Shape) -> Tensor {
        declare(name, Input(inputName: name, shape: shape))
    }

    /// A value kept from run to run under `name`; see also ``frozen(as:_:)``.
    public func variable(_ name: String, _ shape: Shape, role: Variable.Role) -> Tensor {
        guard let frozenScope else {
            return declare(name, Variable(variableName: name, shape: shape, role: role))
        }
        let scoped = "\(frozenScope).\(name)"
        return declare(scoped, Variable(variableName: scoped, shape: shape, role: .setting))
    }

    /// A value that never changes.
    public func constant(_ data: TensorData) -> Tensor {
        apply(Constant(data: data), [])
    }

    /// A rank-0 constant.
    public func constant(_ value: Float) -> Tensor {
        constant(TensorData(scalar: value))
    }

    /// The variables of a role, in the order of their first use.
    package func variables(_ roles: Variable.Role...) -> [Tensor] {
        nodes.indices.filter { id in
            (nodes[id].operation as? Variable).map { roles.contains($0.role) } ?? false
        }.map { Tensor(graph: self, id: $0) }
    }
}
