import RetintCompiler
import RetintGraph
import RetintTensors

extension DeviceKernel {
    /// A kernel of elementwise work: what is fused is one expression, and values that nothing else
    /// reads stay in registers.
    package init(_ work: ElementwiseWork, named name: String) {
        var writer = ElementwiseWriter(work)
        writer.write()
        self.init(
            name: name, writer.parameters,
            """
            RT_EACH(i, \(work.shape.count)) {
            \(writer.lines.map { "    \($0)" }.joined(separator: "\n"))
            }
            """)
    }
}

/// Writes the body of an elementwise kernel: element i of everything, in the order of memory.
private struct ElementwiseWriter {
    private let work: ElementwiseWork
    private(set) var parameters: [Buffer] = []
    private(set) var lines: [String] = []
    /// The variable of each node's value.
    private var results: [Int: String] = [:]
    private var loads: [String: String] = [:]

    init(_ work: ElementwiseWork) { self.work = work }

    mutating func write() {
        if let head = work.head {
            results[head.node] = load(head.buffer, Strides(head.buffer.shape).view)
        }
        // All is read before anything is written: a result may overwrite an operand.
        for member in work.members { compute(member) }
        for member in work.members {
            guard let target = member.target, let value = results[member.id] else { continue }
            lines.append("\(parameter(target))[i] = \(value);")
        }
    }

    private mutating func compute(_ member: ElementwiseWork.Member) {
        let view = member.operation as? any ViewOperation
        let operands = member.inputs.map { node, buffer in
            if view == nil, let known = results[node] { return known }
            return load(
                buffer,
                view?.view(of: buffer.shape, output: work.shape)
                    ?? Strides(buffer.shape).broadcast(to: work.shape).view)
        }
        guard let operation = member.operation as? any ElementwiseOperation else {
            results[member.id] = operands[0]
            return
        }
        let name = "v\(lines.count)"
        lines.append("const float \(name) = \(operation.formula.source(operands));")
        results[member.id] = name
    }

    /// The variable of an operand's element.
    private mutating func load(_ buffer: Buffer, _ view: View) -> String {
        let place = "\(parameter(buffer))[\(view.source())]"
        if let known = loads[place] { return known }
        let name = "v\(lines.count)"
        lines.append("const float \(name) = \(place);")
        loads[place] = name
        return name
    }

    private mutating func parameter(_ buffer: Buffer) -> String {
        let known = parameters.firstIndex {
            $0.storage === buffer.storage && $0.offset == buffer.offset
        }
        if known == nil { parameters.append(buffer) }
        return "p\(known ?? parameters.count - 1)"
    }
}
