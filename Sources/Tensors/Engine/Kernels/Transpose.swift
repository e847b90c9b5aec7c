import RetintGraph
import RetintTensors

extension Transpose: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View(shape: output, steps: permutation.map { strides[$0] })
    }
}
