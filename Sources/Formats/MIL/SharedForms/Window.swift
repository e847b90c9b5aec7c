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
    /// How the kernel moves along each spatial axis of x, [N, C, …], padded according to
    /// `pad_type`.
    package func windowAxes(_ x: Shape, kernel: [Int]) throws -> [WindowAxis] {
        var axes = try unpaddedAxes(kernel)
        switch try string("pad_type", default: "valid") {
        case "valid": break
        case "custom": try pad(&axes)
        case "same": pad(&axes, like: x, isLower: false)
        case "same_lower": pad(&axes, like: x, isLower: true)
        case let type: throw error("the pad_type \"\(type)\" is not supported")
        }
        return axes
    }

    /// The window of a kernel over an image of `shape`.
    package func window(_ shape: Shape, kernel: Pair) throws -> Window {
        Window.image(try windowAxes(shape, kernel: [kernel.height, kernel.width])).window
    }

    /// Kernels, strides and dilations.
    package func unpaddedAxes(_ kernel: [Int]) throws -> [WindowAxis] {
        let strides = try integers("strides", count: kernel.count, default: 1)
        let dilations = try integers("dilations", count: kernel.count, default: 1)
        guard (strides + dilations + kernel).allSatisfy((1...Window.maximum).contains) else {
            throw error("kernels, strides and dilations have to be from 1 to \(Window.maximum)")
        }
        return kernel.indices.map {
            WindowAxis(kernel: kernel[$0], stride: strides[$0], dilation: dilations[$0])
        }
    }

    /// Adds the padding that `pad` states.
    package func pad(_ axes: inout [WindowAxis]) throws {
        let pad = try integers("pad", count: 2 * axes.count, default: 0)
        guard pad.allSatisfy((0...Window.maximum).contains) else {
            throw error("padding has to be from 0 to \(Window.maximum)")
        }
        for index in axes.indices {
            (axes[index].before, axes[index].after) = (pad[2 * index], pad[2 * index + 1])
        }
    }

    private func pad(_ axes: inout [WindowAxis], like x: Shape, isLower: Bool) {
        for index in axes.indices { axes[index].padSame(x[index + 2], isLower: isLower) }
    }
}

extension RaisedOperation {
    /// Checks that there are from one to three spatial axes.
    func requireSpatial(_ x: Tensor, _ weight: Tensor? = nil) throws {
        guard (3...5).contains(x.shape.rank), (weight ?? x).shape.rank == x.shape.rank else {
            let shapes = [x, weight].compactMap { $0?.shape.description }.joined(separator: " and ")
            throw error("one to three spatial dimensions are supported, not \(shapes)")
        }
    }

    func requireImage(_ tensors: Tensor...) throws {
        for tensor in tensors where tensor.shape.rank != 4 {
            throw error("only two spatial dimensions are supported, not shape \(tensor.shape)")
        }
    }
}
