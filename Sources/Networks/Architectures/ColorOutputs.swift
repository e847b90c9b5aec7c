import RetintGraph
import RetintTensors

/// Which of a network's outputs are the colors.
package enum ColorOutputs: Hashable, Sendable {
    /// One output, [N, 2, H, W].
    case joint(String)
    /// Two outputs, [N, 1, H, W] each.
    case split(a: String, b: String)

    /// Nil unless the outputs are one of two channels or two of one.
    package init?(_ outputs: [(name: String, shape: Shape)]) {
        self.init(partial: outputs.map { ($0.name, $0.shape.dimensions) })
    }

    /// - Parameter outputs: names and shapes, as far as these are known.
    package init?(partial outputs: [(name: String, shape: [Int?])]) {
        guard outputs.allSatisfy({ $0.shape.count == 4 }) else { return nil }
        let names = outputs.map(\.name)
        switch outputs.map({ $0.shape[1] }) {
        case [2]: self = .joint(names[0])
        case [1, 1]:
            // Formats do not define the order of outputs; names like output_a and output_b do.
            let isSwapped = names[0].hasSuffix("b") && names[1].hasSuffix("a")
            self = .split(a: names[isSwapped ? 1 : 0], b: names[isSwapped ? 0 : 1])
        default: return nil
        }
    }
}
