import RetintGraph
import RetintTensors

extension Broadcast: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        View(broadcasting: input, to: output)
    }
}
