import RetintGraph
import RetintMLPackage
import RetintTensors

/// Parameters shared by convolution and pooling.
extension Window {
    /// Strides and custom padding as MIL parameters.
    var milParameters: [String: MILOperand] {
        ["strides": .integers(stride), "pad_type": .constant(.string("custom")), "pad": milPadding]
    }

    var milPadding: MILOperand { .integers(padding.inMILOrder) }
}

extension Padding {
    /// Before and after, for each dimension.
    var inMILOrder: [Int] { [top, bottom, left, right] }
}

extension MILOperand {
    package static func integers(_ pair: Pair) -> MILOperand {
        integers([pair.height, pair.width])
    }

    package static func integers(_ values: [Int]) -> MILOperand {
        .constant(.integers(values.map { Int32(clamping: $0) }))
    }

    static func bools(_ flag: Bool, count: Int) -> MILOperand {
        .constant(.bools([Bool](repeating: flag, count: count)))
    }
}

extension OperationParameters {
    package func pair(_ parameter: String, default value: Int) throws -> Pair {
        let values = try integers(parameter, count: 2, default: value)
        return Pair(values[0], values[1])
    }

    /// The window, with the padding according to `pad_type` for an image of `shape`.
    package func window(_ shape: Shape, kernel: Pair) throws -> Window {
        var window = Window(
            stride: try pair("strides", default: 1), dilation: try pair("dilations", default: 1))
        guard min(window.stride.height, window.stride.width) >= 1 else {
            throw error("strides have to be at least 1")
        }
        window.padding = try padding(shape, window, kernel)
        return window
    }

    private func padding(_ shape: Shape, _ window: Window, _ kernel: Pair) throws -> Padding {
        let type = try string("pad_type", default: "valid")
        switch type {
        case "valid": return 0
        case "custom": return try customPadding()
        case "same", "same_lower":
            return window.samePadding(
                height: shape[2], width: shape[3], kernel: kernel, isLower: type == "same_lower")
        default: throw error("the pad_type \"\(type)\" is not supported")
        }
    }

    package func customPadding() throws -> Padding {
        let pad = try integers("pad", count: 4, default: 0)
        return Padding(top: pad[0], bottom: pad[1], left: pad[2], right: pad[3])
    }
}

extension RaisedOperation {
    func requireImage(_ tensors: Tensor...) throws {
        for tensor in tensors where tensor.shape.rank != 4 {
            throw error("only two spatial dimensions are supported, not shape \(tensor.shape)")
        }
    }
}
