import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// Assembles elementwise nodes of one shape into an ``ElementwiseProgram``.
struct ElementwiseBuilder {
    private let count: Int
    private let hasHead: Bool
    private var slots: [ElementwiseSlot] = []
    private var instructions: [ElementwiseInstruction] = []
    /// The slot of each node that the program computes or finds in slot 0.
    private var results: [Int: Int] = [:]
    private var loads: [Int: [(view: View, slot: Int)]] = [:]

    /// - Parameters:
    ///   - count: elements of the common shape.
    ///   - head: a node whose value a kernel has just written to a buffer: it becomes slot 0.
    private init(count: Int, head: (node: Int, buffer: Buffer)? = nil) {
        (self.count, hasHead) = (count, head != nil)
        guard let head else { return }
        slots.append(ElementwiseSlot(source: .direct(head.buffer)))
        results[head.node] = 0
    }

    /// Adds a node.
    ///
    /// - Parameters:
    ///   - inputs: the nodes that it reads, with their buffers.
    ///   - target: the buffer for its value; nil for an intermediate result.
    private mutating func append(
        _ operation: any Operation, _ id: Int, shape: Shape,
        inputs: [(node: Int, buffer: Buffer)], target: Buffer?
    ) {
        let operands = inputs.map { operand(operation, $0.node, $0.buffer, shape) }
        let loop = (operation as? any LoopOperation)?.loop ?? .c(rt_map_copy)
        slots.append(ElementwiseSlot(source: target.map { .direct($0) } ?? .temporary))
        results[id] = slots.count - 1
        instructions.append(
            ElementwiseInstruction(loop: loop, target: slots.count - 1, operands: operands))
    }

    private mutating func operand(
        _ operation: any Operation, _ node: Int, _ buffer: Buffer, _ shape: Shape
    ) -> Int {
        if let view = operation as? any ViewOperation {
            return load(node, buffer, view.view(of: buffer.shape, output: shape), shape)
        }
        return results[node]
            ?? load(node, buffer, Strides(buffer.shape).broadcast(to: shape).view, shape)
    }

    private mutating func load(
        _ node: Int, _ buffer: Buffer, _ view: View, _ shape: Shape
    ) -> Int {
        if let known = loads[node]?.first(where: { $0.view == view }) { return known.slot }
        slots.append(ElementwiseSlot(source: source(buffer, view, shape)))
        loads[node, default: []].append((view, slots.count - 1))
        return slots.count - 1
    }

    private func source(
        _ buffer: Buffer, _ view: View, _ shape: Shape
    ) -> ElementwiseSlot.Source {
        if view.isContiguous && buffer.count == count { return .direct(buffer) }
        if view.isScalar && view.offset == 0 { return .repeated(buffer, view) }
        // A head finishes its result pixel by pixel, where a longer pattern would not begin anew.
        if let length = view.repeatedVector, length <= ElementwiseProgram.longestPattern,
            !hasHead || length == Layout.channels(shape)
        {
            return .repeated(buffer, view)
        }
        return .gathered(buffer, view)
    }

    /// The program of some work.
    static func program(of work: ElementwiseWork) -> ElementwiseProgram {
        var builder = Self(count: work.shape.count, head: work.head)
        for member in work.members {
            builder.append(
                member.operation, member.id, shape: work.shape, inputs: member.inputs,
                target: member.target)
        }
        return builder.program()
    }

    private func program() -> ElementwiseProgram {
        ElementwiseProgram(count: count, slots: slots, instructions: instructions)
    }
}
