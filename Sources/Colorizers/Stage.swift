import Layers
import TensorGraph

/// 3×3 convolution and ReLU for each of `channels`, one after another, then batch normalization
/// unless told otherwise: the stage that ECCV16 and SIGGRAPH17 are made of.
///
/// - Parameter stride: of the last convolution.
func stage(
    _ inputs: Int, _ channels: [Int], stride: Pair = 1, dilation: Int = 1, normalizes: Bool = true
) -> [any Layer] {
    var layers: [any Layer] = []
    var inputs = inputs
    for (place, outputs) in channels.enumerated() {
        layers.append(
            Conv2d(
                inputs, outputs, kernel: 3, stride: place == channels.count - 1 ? stride : 1,
                padding: Padding(dilation), dilation: Pair(dilation)))
        layers.append(ReLU())
        inputs = outputs
    }
    if normalizes { layers.append(BatchNorm2d(inputs)) }
    return layers
}
