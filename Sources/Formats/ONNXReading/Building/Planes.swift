import RetintGraph
import RetintTensors

/// A tensor with one or two spatial axes, [N, C, W] or [N, C, H, W], as images: one axis is taken
/// as images of one row.
struct Planes {
    private let rows: RowImages

    init(_ x: Tensor, _ node: NodeContext) throws {
        guard [3, 4].contains(x.shape.rank) else {
            throw node.error(
                "only one or two spatial dimensions are supported, not shape \(x.shape)")
        }
        rows = RowImages(x)
    }

    var image: Tensor { rows.image }
    var isRow: Bool { rows.isRow }

    /// A result of images as a tensor with as many axes as the original.
    func restored(_ y: Tensor) -> Tensor { rows.restored(y) }
}

/// How padding is determined.
enum PaddingMode: String {
    /// As much as the attribute `pads` says.
    case explicit = "NOTSET"
    case valid = "VALID"
    /// Enough for ⌈size/stride⌉ output elements; an odd one is at the end or at the start.
    case sameUpper = "SAME_UPPER"
    case sameLower = "SAME_LOWER"
}

/// The attributes that convolution and pooling share.
extension NodeContext {
    /// A number for each spatial axis; 1 for the height of images of one row.
    func pair(_ attribute: String, _ x: Planes, default value: Int) throws -> Pair {
        guard let values = try integers(attribute) else {
            return x.isRow ? Pair(Swift.min(value, 1), value) : Pair(value, value)
        }
        guard values.count == (x.isRow ? 1 : 2),
            values.allSatisfy({ (0...Window.maximum).contains($0) })
        else {
            throw error("its attribute \(attribute) is \(values.prefix(8))", ONNXError.damaged)
        }
        return x.isRow
            ? Pair(attribute == "output_padding" ? 0 : 1, values[0])
            : Pair(values[0], values[1])
    }

    /// Strides and dilations, without padding.
    func window(_ x: Planes) throws -> Window {
        let window = Window(
            stride: try pair("strides", x, default: 1),
            dilation: try pair("dilations", x, default: 1))
        guard Swift.min(window.stride.height, window.stride.width) >= 1,
            Swift.min(window.dilation.height, window.dilation.width) >= 1
        else { throw error("strides and dilations have to be at least 1", ONNXError.damaged) }
        return window
    }

    func explicitPadding(_ x: Planes) throws -> Padding {
        guard let pads = try integers("pads") else { return 0 }
        guard pads.count == (x.isRow ? 2 : 4),
            pads.allSatisfy({ (0...Window.maximum).contains($0) })
        else { throw error("its attribute pads is \(pads.prefix(8))") }
        return x.isRow
            ? Padding(top: 0, bottom: 0, left: pads[0], right: pads[1])
            : Padding(top: pads[0], bottom: pads[2], left: pads[1], right: pads[3])
    }

    /// `auto_pad`
    func paddingMode() throws -> PaddingMode {
        let name = try string("auto_pad", default: PaddingMode.explicit.rawValue)
        guard let mode = PaddingMode(rawValue: name) else {
            throw error("the auto_pad \(name.plain) is not supported")
        }
        return mode
    }

    /// The padding, as stated or according to `auto_pad`.
    func padding(_ x: Planes, _ window: Window, _ kernel: Pair) throws -> Padding {
        let mode = try paddingMode()
        switch mode {
        case .explicit: return try explicitPadding(x)
        case .valid: return 0
        case .sameUpper, .sameLower:
            let shape = x.image.shape
            return window.samePadding(
                height: shape[2], width: shape[3], kernel: kernel, isLower: mode == .sameLower)
        }
    }

    /// How the kernel moves along each spatial axis of x, [N, C, …].
    func windowAxes(_ x: Shape, kernel: [Int]) throws -> [WindowAxis] {
        let count = kernel.count
        guard (1...3).contains(count), x.rank == count + 2 else {
            throw error(
                "a kernel of \(kernel) does not fit \(x); one to three spatial dimensions are "
                    + "supported")
        }
        let strides = try sides("strides", count, default: 1)
        let dilations = try sides("dilations", count, default: 1)
        let mode = try paddingMode()
        let pads = mode == .explicit ? try sides("pads", 2 * count, default: 0) : []
        guard (strides + dilations + kernel).allSatisfy((1...Window.maximum).contains) else {
            throw error(
                "kernels, strides and dilations have to be from 1 to \(Window.maximum)",
                ONNXError.damaged)
        }
        return kernel.indices.map { index in
            var axis = WindowAxis(
                kernel: kernel[index], stride: strides[index], dilation: dilations[index])
            switch mode {
            case .explicit: (axis.before, axis.after) = (pads[index], pads[count + index])
            case .valid: break
            case .sameUpper: axis.padSame(x[index + 2], isLower: false)
            case .sameLower: axis.padSame(x[index + 2], isLower: true)
            }
            return axis
        }
    }

    private func sides(_ attribute: String, _ count: Int, default value: Int) throws -> [Int] {
        guard let values = try integers(attribute) else {
            return [Int](repeating: value, count: count)
        }
        guard values.count == count, values.allSatisfy({ (0...Window.maximum).contains($0) }) else {
            throw error("its attribute \(attribute) is \(values.prefix(8))", ONNXError.damaged)
        }
        return values
    }
}
