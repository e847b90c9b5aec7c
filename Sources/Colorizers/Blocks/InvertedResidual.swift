import Layers
import TensorGraph

/// MobileNetV2's block: widen by 1×1, filter each channel by 3×3, narrow by 1×1; where the shape
/// stays, the input is added.
public final class InvertedResidual: Module, Layer {
    let expand, depthwise, project: Sequential
    private let keepsShape: Bool

    public init(_ inputs: Int, _ outputs: Int, stride: Int = 1, expansion: Int = 4) {
        let wide = inputs * expansion
        expand = convolution(inputs, wide, kernel: 1)
        depthwise = convolution(wide, wide, kernel: 3, stride: Pair(stride), groups: wide)
        project = convolution(wide, outputs, kernel: 1, activates: false)
        keepsShape = stride == 1 && inputs == outputs
    }

    public func forward(_ x: Tensor) -> Tensor {
        let y = project(depthwise(expand(x)))
        return keepsShape ? x + y : y
    }
}

/// `count` inverted residuals, the first of which halves the size.
public func invertedResiduals(_ inputs: Int, _ outputs: Int, count: Int) -> Sequential {
    Sequential(
        (0..<count).map { place in
            InvertedResidual(place == 0 ? inputs : outputs, outputs, stride: place == 0 ? 2 : 1)
        })
}
