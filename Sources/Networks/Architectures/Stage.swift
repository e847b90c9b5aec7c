import RetintGraph
import RetintLayers

/// The stage that ECCV16 and SIGGRAPH17 consist of: a 3×3 convolution and ReLU for each of
/// `channels`, then batch normalization.
///
/// - Parameters:
///   - stride: the stride of the last convolution.
///   - normalizes: whether there is a batch normalization.
func stage(
    _ inputs: Int, _ channels: [Int], stride: Pair = 1, dilation: Int = 1, normalizes: Bool = true
) -> [any Layer] {
    var layers: [any Layer] = []
    var inputs = inputs
    for (index, outputs) in channels.enumerated() {
        layers.append(
            Conv2d(
                inputs, outputs, kernel: 3, stride: index == channels.count - 1 ? stride : 1,
                padding: Padding(dilation), dilation: Pair(dilation)))
        layers.append(ReLU())
        inputs = outputs
    }
    if normalizes { layers.append(BatchNorm2d(inputs)) }
    return layers
}
