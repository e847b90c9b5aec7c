import Layers
import TensorGraph

/// A block of EfficientNet-Lite: with or without the widening before the depthwise convolution.
func liteBlock(
    _ inputs: Int, _ outputs: Int, kernel: Int, stride: Int, expands: Bool
) -> any Layer {
    expands
        ? LiteInvertedResidual(inputs, outputs, kernel: kernel, stride: stride)
        : LiteSeparable(inputs, outputs, kernel: kernel, stride: stride)
}

/// timm's `InvertedResidual`: six times the channels, filter each, narrow; where the shape stays,
/// the input is added.
private final class LiteInvertedResidual: Module, Layer {
    let convPw: Conv2d
    let bn1: BatchNorm2d
    let convDw: Conv2d
    let bn2: BatchNorm2d
    let convPwl: Conv2d
    let bn3: BatchNorm2d
    private let keepsShape: Bool

    init(_ inputs: Int, _ outputs: Int, kernel: Int, stride: Int) {
        let wide = inputs * 6
        convPw = sameConvolution(inputs, wide, kernel: 1)
        bn1 = liteNorm(wide)
        convDw = sameConvolution(wide, wide, kernel: kernel, stride: stride, groups: wide)
        bn2 = liteNorm(wide)
        convPwl = sameConvolution(wide, outputs, kernel: 1)
        bn3 = liteNorm(outputs)
        keepsShape = stride == 1 && inputs == outputs
    }

    func forward(_ x: Tensor) -> Tensor {
        let y = bn3(convPwl(relu6(bn2(convDw(relu6(bn1(convPw(x))))))))
        return keepsShape ? x + y : y
    }
}

/// timm's `DepthwiseSeparableConv`: filter each channel, then mix them.
private final class LiteSeparable: Module, Layer {
    let convDw: Conv2d
    let bn1: BatchNorm2d
    let convPw: Conv2d
    let bn2: BatchNorm2d

    init(_ inputs: Int, _ outputs: Int, kernel: Int, stride: Int) {
        convDw = sameConvolution(inputs, inputs, kernel: kernel, stride: stride, groups: inputs)
        bn1 = liteNorm(inputs)
        convPw = sameConvolution(inputs, outputs, kernel: 1)
        bn2 = liteNorm(outputs)
    }

    func forward(_ x: Tensor) -> Tensor { bn2(convPw(relu6(bn1(convDw(x))))) }
}

/// A convolution padded as TensorFlow's `SAME` does for even sizes: at a stride of 2 one row and
/// column fewer above and left than below and right.
func sameConvolution(
    _ inputs: Int, _ outputs: Int, kernel: Int, stride: Int = 1, groups: Int = 1
) -> Conv2d {
    let (before, after) = ((kernel - stride) / 2, (kernel - stride + 1) / 2)
    return Conv2d(
        inputs, outputs, kernel: Pair(kernel), stride: Pair(stride),
        padding: Padding(top: before, bottom: after, left: before, right: after),
        groups: groups, bias: false, initializer: .kaimingNormal(.out))
}

/// As TensorFlow's networks normalize.
func liteNorm(_ channels: Int) -> BatchNorm2d {
    BatchNorm2d(channels, epsilon: 1e-3, momentum: 0.01)
}
