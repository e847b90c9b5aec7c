import RetintCompiler
import RetintGraph
import RetintTensors

/// A kernel's source in the part of C that NVRTC and the compiler of the machine both understand.
/// What differs, how elements are shared out, is in the prelude that each puts before it.
package struct KernelSource: Hashable, Sendable {
    /// A name for the function that is unique among different sources of one program.
    package let name: String
    /// The function. Its parameters are pointers to floats, and it computes `count` elements.
    package let text: String
    /// Elements that it computes.
    package let count: Int
}

/// A kernel of elementwise work: what is fused is one expression, and values that nothing else
/// reads stay in registers.
package struct ElementwiseSource {
    package let source: KernelSource
    /// What its parameters point to, in their order.
    package let parameters: [Buffer]

    package init(_ work: ElementwiseWork, name: String) {
        var writer = ElementwiseWriter(work)
        writer.write()
        parameters = writer.parameters
        let list = parameters.indices.map { "float *p\($0)" }.joined(separator: ", ")
        source = KernelSource(
            name: name,
            text: """
                RT_KERNEL(\(name), \(list)) {
                    RT_EACH(i, \(work.shape.count)) {
                \(writer.lines.map { "        \($0)\n" }.joined())\
                    }
                }

                """, count: work.shape.count)
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
        let place = "\(parameter(buffer))[\(view.source)]"
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

extension View {
    /// The place in memory of the view's element i.
    fileprivate var source: String {
        if isContiguous { return "i" }
        var (terms, inner) = (offset == 0 ? [] : ["\(offset)"], 1)
        for axis in axes.reversed() {
            if axis.step != 0 {
                let index = inner == 1 ? "i" : "i / \(inner)"
                let isOuter = inner * axis.extent == count
                let place = isOuter ? index : "\(index) % \(axis.extent)"
                terms.append(axis.step == 1 ? place : "\(place) * \(axis.step)")
            }
            inner *= axis.extent
        }
        return terms.isEmpty ? "0" : terms.joined(separator: " + ")
    }

    private var count: Int { axes.reduce(1) { $0 * $1.extent } }
}
