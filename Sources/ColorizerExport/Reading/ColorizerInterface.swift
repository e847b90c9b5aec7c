import MIL
import MLPackage
import TensorGraph

/// How to use a raised package as a colorizer.
package struct ColorizerInterface: Hashable, Sendable {
    package enum Outputs: Hashable, Sendable {
        /// One output, [N, 2, H, W].
        case joint(String)
        /// Two outputs, [N, 1, H, W] each.
        case split(a: String, b: String)
    }

    package let input: String
    /// Whether the model takes a grayscale image instead of a multi-array.
    package let takesImage: Bool
    /// The factor from L (0…100) to the raised model's input: 2.55 for images whose pixel values
    /// 0…255 represent L in 0…100, otherwise 1. Any other conversion is part of the graph.
    package let lightnessScale: Float
    package let outputs: Outputs

    package init(input: String, takesImage: Bool, lightnessScale: Float, outputs: Outputs) {
        self.input = input
        self.takesImage = takesImage
        self.lightnessScale = lightnessScale
        self.outputs = outputs
    }

    /// Whether the raised model takes pixels, integers in 0…255.
    package var takesPixels: Bool { takesImage && lightnessScale != 1 }

    /// Nil unless the model has one single-channel input and either one two-channel output or two
    /// single-channel outputs.
    init?(_ package: MLPackage, _ normalization: StatedNormalization, _ model: RaisedModel) {
        guard model.inputs.count == 1, model.inputs[0].shape.rank == 4,
            model.inputs[0].shape[1] == 1, let outputs = Outputs(model.outputs)
        else { return nil }
        input = model.inputs[0].name
        takesImage = package.takesImage
        lightnessScale = normalization.lightnessScale
        self.outputs = outputs
    }
}

extension ColorizerInterface.Outputs {
    fileprivate init?(_ outputs: [(name: String, value: Tensor)]) {
        guard outputs.allSatisfy({ $0.value.shape.rank == 4 }) else { return nil }
        let channels = outputs.map { $0.value.shape[1] }
        let names = outputs.map(\.name)
        switch channels {
        case [2]: self = .joint(names[0])
        case [1, 1]:
            // The format does not define the order of outputs; names like output_a and output_b do.
            let isSwapped = names[0].hasSuffix("b") && names[1].hasSuffix("a")
            self = .split(a: names[isSwapped ? 1 : 0], b: names[isSwapped ? 0 : 1])
        default: return nil
        }
    }
}
