import RetintGraph
import RetintLayers

/// EfficientNet-Lite as a description of photos in color: the means over all places of the features
/// of its last stage, 320 numbers for Lite0.
///
/// It is not a colorizer. Its parameters are named as in timm's `tf_efficientnet_lite0` … `lite4`,
/// below `encoder`, as those of ``LiteUNet``.
package final class PooledEfficientNetLite: Module {
    private let encoder: EfficientNetLite

    /// The prefix of the parameters' names.
    package static let prefix = "encoder."
    /// H and W of the input are multiples of 32: the encoder halves the size five times.
    package static let requiredMultiple = 32
    /// The published widths and depths, Lite0 first.
    package static let variants: [(width: Double, depth: Double)] = [
        (1, 1), (1, 1.1), (1.1, 1.2), (1.2, 1.4), (1.4, 1.8),
    ]

    package init(width: Double, depth: Double) {
        encoder = EfficientNetLite(width: width, depth: depth, colors: 3)
        super.init()
        assignNames()
    }

    /// - Parameter photos: sRGB, 0…255, [N, 3, H, W].
    /// - Returns: the pooled features, [N, C].
    package func callAsFunction(_ photos: Tensor) -> Tensor {
        let features = encoder((photos - 127.5) * (1 / 127.5))
        return features[features.count - 1].mean(axes: [2, 3])
    }
}
