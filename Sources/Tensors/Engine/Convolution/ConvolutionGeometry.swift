import CRetintKernels
import RetintGraph
import RetintTensors

/// A window over images in the representation of the C loops.
func convolutionGeometry(
    x: Shape, y: Shape, kernel: Pair, window: Window, groups: Int
) -> rt_conv {
    rt_conv(
        batch: Int32(x[0]), height: Int32(x[2]), width: Int32(x[3]), channels: Int32(x[1]),
        out_height: Int32(y[2]), out_width: Int32(y[3]), out_channels: Int32(y[1]),
        kernel_height: Int32(kernel.height), kernel_width: Int32(kernel.width),
        stride_height: Int32(window.stride.height), stride_width: Int32(window.stride.width),
        dilation_height: Int32(window.dilation.height),
        dilation_width: Int32(window.dilation.width),
        pad_top: Int32(window.padding.top), pad_left: Int32(window.padding.left),
        groups: Int32(groups))
}

extension rt_conv {
    /// Whether each channel has its own kernel.
    var isDepthwise: Bool { groups == channels && out_channels == channels && groups > 1 }
    /// Elements of a kernel.
    var taps: Int { Int(kernel_height * kernel_width) }
}
