import RetintArchitectures
import RetintGraph
import RetintMIL
import RetintMLPackage

/// How to use a raised package as a colorizer.
package struct ColorizerInterface: Hashable, Sendable {
    package let input: String
    /// Whether the model takes a grayscale image instead of a multi-array.
    package let takesImage: Bool
    /// The factor from L (0…100) to the raised model's input: 2.55 for images whose pixel values
    /// 0…255 represent L in 0…100, otherwise 1. Any other conversion is part of the graph.
    package let lightnessScale: Float
    package let outputs: ColorOutputs

    package init(input: String, takesImage: Bool, lightnessScale: Float, outputs: ColorOutputs) {
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
            model.inputs[0].shape[1] == 1,
            let outputs = ColorOutputs(model.outputs.map { ($0.name, $0.value.shape) })
        else { return nil }
        self.init(
            input: model.inputs[0].name, takesImage: package.takesImage,
            lightnessScale: normalization.lightnessScale, outputs: outputs)
    }
}
