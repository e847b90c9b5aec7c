import RetintGraph
import RetintTensors

/// The elements of a value's memory that each axis reaches with its own stride
/// (`torch.as_strided`, but of memory in the engine's physical order).
package struct AsStrided: ViewOperation {
    package static let name = "as_strided"
    package let strides: Strides

    package init(strides: Strides) { self.strides = strides }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return strides.shape
    }

    package func view(of input: Shape, output: Shape) -> View { strides.view }
}
