import RetintGraph
import RetintLayers

/// The encoder of EfficientNet-Lite (Tan, Le; the variant without squeeze-and-excitation and with
/// ReLU6), for one channel of input in colorizers and three in ``PooledEfficientNetLite``.
///
/// Its parameters are named as in timm's `tf_efficientnet_lite0` … `lite4`, so that weights
/// pretrained on ImageNet fit. Width and depth scale as theirs do: 1 and 1 is Lite0, 1.1 and 1.2 is
/// Lite2.
final class EfficientNetLite: Module {
    let convStem: Conv2d
    let bn1: BatchNorm2d
    let blocks: Sequential
    /// The channels at 1/2, 1/4, 1/8, 1/16 and 1/32 of the size.
    let channels: [Int]

    private struct Stage {
        let channels, count, kernel, stride: Int
    }

    private static let stages = [
        Stage(channels: 16, count: 1, kernel: 3, stride: 1),
        Stage(channels: 24, count: 2, kernel: 3, stride: 2),
        Stage(channels: 40, count: 2, kernel: 5, stride: 2),
        Stage(channels: 80, count: 3, kernel: 3, stride: 2),
        Stage(channels: 112, count: 3, kernel: 5, stride: 1),
        Stage(channels: 192, count: 4, kernel: 5, stride: 2),
        Stage(channels: 320, count: 1, kernel: 3, stride: 1),
    ]
    /// The last stage of each size.
    private static let taps: Set<Int> = [0, 1, 2, 4, 6]
    private static let stemChannels = 32

    init(width: Double, depth: Double, colors: Int = 1) {
        let stages = Self.stages
        let widths = stages.map { Self.rounded(Double($0.channels) * width) }
        convStem = sameConvolution(colors, Self.stemChannels, kernel: 3, stride: 2)
        bn1 = liteNorm(Self.stemChannels)
        blocks = Sequential(
            stages.indices.map { position in
                let stage = stages[position]
                let isEnd = position == 0 || position == stages.count - 1
                let count = isEnd ? 1 : Int((Double(stage.count) * depth).rounded(.up))
                let inputs = position == 0 ? Self.stemChannels : widths[position - 1]
                return Sequential(
                    (0..<count).map { index in
                        liteBlock(
                            index == 0 ? inputs : widths[position], widths[position],
                            kernel: stage.kernel, stride: index == 0 ? stage.stride : 1,
                            expands: position > 0)
                    })
            })
        channels = stages.indices.filter(Self.taps.contains).map { widths[$0] }
    }

    /// - Parameter x: [N, 1 or 3, H, W], −1…1.
    /// - Returns: the features at 1/2, 1/4, 1/8, 1/16 and 1/32 of the size.
    func callAsFunction(_ x: Tensor) -> [Tensor] {
        scoped(in: x.graph) {
            var value = relu6(bn1(convStem(x)))
            return blocks.scoped(in: x.graph) {
                blocks.layers.indices.compactMap { position in
                    value = blocks.layers[position](value)
                    return Self.taps.contains(position) ? value : nil
                }
            }
        }
    }

    /// The nearest multiple of 8, but at least 90 % of `channels`.
    private static func rounded(_ channels: Double) -> Int {
        let nearest = max(8, Int(channels + 4) / 8 * 8)
        return Double(nearest) < 0.9 * channels ? nearest + 8 : nearest
    }
}
