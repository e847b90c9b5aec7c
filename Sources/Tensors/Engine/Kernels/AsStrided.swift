import RetintGraph
import RetintTensors

/// The elements of a value's memory that each axis reaches with its own stride
/// (`torch.as_strided`, but of memory in the engine's physical order).
struct AsStrided: ViewOperation {
    static let name = "as_strided"
    let strides: Strides

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return strides.shape
    }

    func view(of input: Shape, output: Shape) -> View { strides.view }
}
