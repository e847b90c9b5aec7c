import RetintCompiler
import RetintGraph
import RetintTensors

/// Permutes the weights of a convolution whose only reader is a pixel shuffle, so that the shuffle
/// moves whole pixels and not single channels.
struct ShuffleOrder: GraphPass {
    static let name = "order channels for pixel shuffles"
    /// Whether a run changes variables.
    let learns: Bool

    func run(on input: GraphPassInput) -> GraphPassResult {
        let (pattern, loaded) = (GraphPattern(input), LoadedValues(learns: learns))
        func isLoaded(_ id: Int) -> Bool { loaded.contains(id, of: input.graph) }
        return GraphRewrite.run(on: input) { rewrite, id in
            guard let shuffle = pattern.operation(id, as: PixelShuffle.self),
                let parts = parts(pattern.inputs(id)[0], pattern, isLoaded)
            else { return nil }
            let channels = pattern.shape(id)[1]
            var image = rewrite.target.apply(
                parts.convolution,
                [
                    rewrite.copy(of: parts.x),
                    ordered(rewrite.copy(of: parts.weight), channels, along: 0),
                ])
            if let bias = parts.bias {
                let value = rewrite.copy(of: bias)
                image = image + ordered(value, channels, along: value.shape.rank - 3)
            }
            return image.applying(OrderedPixelShuffle(factor: shuffle.factor))
        }
    }

    /// A convolution with loaded weights, and maybe a bias that is added, if nothing else needs it.
    private func parts(
        _ id: Int, _ pattern: GraphPattern, _ isLoaded: (Int) -> Bool
    ) -> (convolution: Convolution, x: Int, weight: Int, bias: Int?)? {
        guard pattern.isUsed(id, 1) else { return nil }
        if pattern.operation(id, as: Add.self) != nil {
            for (value, bias) in pattern.eitherOrder(id) {
                guard pattern.operation(value, as: Convolution.self) != nil, isLoaded(bias),
                    pattern.shape(value) == pattern.shape(id),
                    isOfChannels(pattern.shape(bias), pattern.shape(id)),
                    let parts = parts(value, pattern, isLoaded)
                else { continue }
                return (parts.convolution, parts.x, parts.weight, bias)
            }
            return nil
        }
        let inputs = pattern.inputs(id)
        guard let convolution = pattern.operation(id, as: Convolution.self),
            convolution.groups == 1, inputs.count == 2, isLoaded(inputs[1])
        else { return nil }
        return (convolution, inputs[0], inputs[1], nil)
    }

    /// Whether a value has one element for each channel of an image.
    private func isOfChannels(_ shape: Shape, _ image: Shape) -> Bool {
        shape.rank >= 3 && shape.count == image[1] && shape[-3] == image[1]
    }

    /// A value whose channels have the order of the pixels that they become.
    private func ordered(_ value: Tensor, _ channels: Int, along axis: Int) -> Tensor {
        let shape = value.shape
        let (before, after) = (
            shape.dimensions.prefix(axis).reduce(1, *),
            shape.dimensions.suffix(from: axis + 1).reduce(1, *)
        )
        return value.reshaped([before, channels, shape[axis] / channels, after])
            .transposed([0, 2, 1, 3]).reshaped(shape)
    }
}
