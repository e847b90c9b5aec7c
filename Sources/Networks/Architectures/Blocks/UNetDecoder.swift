import RetintGraph
import RetintLayers

/// The decoder that the U-Nets share (Ronneberger et al. 2015): it adds the context of the whole
/// image to the deepest features, then doubles the size level by level and adds the encoder's
/// features of each size.
///
/// Its modules are named as the network's own: `context`, `up16`, `lateral16`, by the size that
/// they work at or end at (1/16).
struct UNetDecoder: ModuleGroup {
    let context: Sequential
    /// 1×1 convolutions from the encoder's channels to the decoder's; nil where they agree.
    let lateral2, lateral4, lateral8, lateral16: Sequential?
    let up16, up8, up4: UpBlock
    /// Nil for a decoder that ends at 1/4 of the size.
    let up2: UpBlock?

    /// - Parameters:
    ///   - features: the channels of the encoder's features, from the size that the decoder ends at
    ///     (1/2 or 1/4) down to 1/32.
    ///   - widths: the decoder's channels, from the size that it ends at down to 1/16; those of the
    ///     features if nil.
    ///   - filter: creates the layers after the addition, from the stride (16 for 1/16 of the size)
    ///     and the number of channels.
    init(
        features: [Int], widths: [Int]? = nil, filter: (_ stride: Int, _ channels: Int) -> any Layer
    ) {
        let inputs = Array(features.reversed())
        let outputs = widths.map { $0.reversed() } ?? Array(inputs.dropFirst())
        func up(_ level: Int) -> UpBlock {
            UpBlock(level == 0 ? inputs[0] : outputs[level - 1], outputs[level]) { channels in
                filter(16 >> level, channels)
            }
        }
        func lateral(_ level: Int) -> Sequential? {
            guard widths != nil, level < outputs.count else { return nil }
            return convolution(inputs[level + 1], outputs[level], kernel: 1, activates: false)
        }
        context = globalContext(inputs[0])
        (lateral16, lateral8, lateral4, lateral2) = (lateral(0), lateral(1), lateral(2), lateral(3))
        (up16, up8, up4) = (up(0), up(1), up(2))
        up2 = outputs.count > 3 ? up(3) : nil
    }

    /// - Parameter features: the encoder's, from the size that the decoder ends at down to 1/32.
    func callAsFunction(_ features: [Tensor]) -> Tensor {
        let deepest = features[features.count - 1]
        let levels = [(up16, lateral16), (up8, lateral8), (up4, lateral4), (up2, lateral2)]
        return zip(levels, features.dropLast().reversed())
            .reduce(deepest + context(deepest)) { x, level in
                let ((up, lateral), skip) = level
                return up?(x, skip: lateral?(skip) ?? skip) ?? x
            }
    }
}

/// The features of an encoder: `x`, and the output of each of the stages, one after another.
func pyramid(_ x: Tensor, _ stages: Sequential...) -> [Tensor] {
    stages.reduce(into: [x]) { features, stage in
        features.append(stage(features[features.count - 1]))
    }
}
