import RetintGraph
import RetintLayers

/// A block of EfficientNet-Lite, with or without the expansion before the depthwise convolution.
func liteBlock(
    _ inputs: Int, _ outputs: Int, kernel: Int, stride: Int, expands: Bool
) -> any Layer {
    expands
        ? LiteInvertedResidual(inputs, outputs, kernel: kernel, stride: stride)
        : LiteSeparable(inputs, outputs, kernel: kernel, stride: stride)
}

/// timm's `InvertedResidual`: 1×1 to six times the channels, depthwise, 1×1 to fewer; the input is
/// added if it has the output's shape.
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

/// timm's `DepthwiseSeparableConv`: depthwise, then 1×1.
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

/// A convolution with TensorFlow's padding `SAME` for even sizes: at a stride of 2, one row fewer
/// above than below and one column fewer left than right.
func sameConvolution(
    _ inputs: Int, _ outputs: Int, kernel: Int, stride: Int = 1, groups: Int = 1
) -> Conv2d {
    let (before, after) = ((kernel - stride) / 2, (kernel - stride + 1) / 2)
    return Conv2d(
        inputs, outputs, kernel: Pair(kernel), stride: Pair(stride),
        padding: Padding(top: before, bottom: after, left: before, right: after),
        groups: groups, bias: false, initializer: .kaimingNormal(.out))
}

/// A batch normalization with the constants of TensorFlow's networks.
func liteNorm(_ channels: Int) -> BatchNorm2d {
    BatchNorm2d(channels, epsilon: 1e-3, momentum: 0.01)
}
