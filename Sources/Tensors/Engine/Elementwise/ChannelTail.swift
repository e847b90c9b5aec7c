import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// Elementwise work of the form (y·scale + bias)·factor, limited to a range, with one scale and one
/// bias per channel, which kernels can apply to their results while storing them.
struct ChannelTail {
    private var scale, bias, factor: Buffer?
    private var low = -Float.infinity
    private var high = Float.infinity

    /// The tail with the addresses of its operands, which are already bound.
    var bound: Bound {
        Bound(
            scale: scale?.pointer, bias: bias?.pointer, factor: factor?.pointer, low: low,
            high: high)
    }
}

extension ChannelTail {
    /// The addresses of a tail's operands: everything that a run reads.
    struct Bound {
        fileprivate let scale, bias, factor: UnsafeMutablePointer<Float>?
        fileprivate let low, high: Float
    }
}

extension ChannelTail.Bound {
    func values(from channel: Int) -> rt_tail {
        rt_tail(
            scale: scale.map { UnsafePointer($0 + channel) },
            bias: bias.map { UnsafePointer($0 + channel) },
            factor: factor?.pointee ?? 1, low: low, high: high)
    }

    /// The values of the last `count` channels, padded for a kernel that reads whole panels.
    func withPaddedValues(
        from channel: Int, count: Int, _ body: (UnsafePointer<rt_tail>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * panelWidth) { memory in
            memory.initialize(repeating: 0)
            var values = values(from: channel)
            func pad(_ vector: inout UnsafePointer<Float>?, _ offset: Int) {
                guard let source = vector, let target = memory.baseAddress else { return }
                (target + offset).update(from: source, count: count)
                vector = UnsafePointer(target + offset)
            }
            pad(&values.scale, 0)
            pad(&values.bias, panelWidth)
            body(&values)
        }
    }
}

extension ElementwiseProgram {
    /// This program as a tail that overwrites the value in slot 0; nil if it has another form.
    var channelTail: ChannelTail? {
        guard overwritesHead, case .direct(let result) = slots[0].source else { return nil }
        var (tail, value) = (ChannelTail(), 0)
        for (step, instruction) in instructions.enumerated() {
            let isLast = step == instructions.count - 1
            let operands = [instruction.first, instruction.second]
            guard isLast || !slots[instruction.target].isDirect, operands.contains(value),
                let role = instruction.loop.role
            else { return nil }
            let others = operands.filter { $0 != value }
            let operand = others.first.flatMap { channelOperand($0, shape: result.shape) }
            guard others.isEmpty || operand != nil, tail.append(role, operand) else { return nil }
            value = instruction.target
        }
        return tail
    }

    /// A slot's buffer if it holds one value for each channel, or one for all.
    private func channelOperand(_ slot: Int, shape: Shape) -> ChannelTail.Operand? {
        guard case .repeated(let buffer, let view) = slots[slot].source else { return nil }
        if view.repeatedVector == Layout.channels(shape) { return .vector(buffer) }
        return view.isScalar ? .scalar(buffer) : nil
    }
}

extension ChannelTail {
    fileprivate enum Operand {
        case vector(Buffer)
        case scalar(Buffer)
    }

    /// Adds one more loop; returns false if the form has no place for it.
    ///
    /// - Parameter operand: the other operand; nil for a function of only the value.
    fileprivate mutating func append(_ role: ElementwiseLoop.Role, _ operand: Operand?) -> Bool {
        guard low == -.infinity && high == .infinity else { return false }
        switch (role, operand) {
        case (.product, .vector(let buffer)) where scale == nil && bias == nil && factor == nil:
            scale = buffer
        case (.sum, .vector(let buffer)) where bias == nil && factor == nil: bias = buffer
        case (.product, .scalar(let buffer)) where factor == nil: factor = buffer
        case (.limits(let minimum, let maximum), nil): (low, high) = (minimum, maximum)
        default: return false
        }
        return true
    }
}
