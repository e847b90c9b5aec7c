import RetintCompiler
import RetintGraph
import RetintTensors

extension DeviceKernel {
    /// A kernel of elementwise work: what is fused is one expression, and values that nothing else
    /// reads stay in registers.
    package init(_ work: ElementwiseWork) {
        let writer = ElementwiseWriter(work)
        self.init(
            "elementwise", writer.parameters, .elements(work.shape.count / writer.lanes),
            writer.body)
    }
}

/// Writes the body of an elementwise kernel. A thread computes four elements that lie one after
/// another in memory if there are only such groups, and otherwise one.
private struct ElementwiseWriter {
    private let work: ElementwiseWork
    private(set) var parameters: [Buffer] = []
    /// The elements that a thread computes.
    let lanes: Int
    /// What is read before the elements, one line for each group of them.
    private var loads: [String] = []
    /// What is computed for each element.
    private var lines: [String] = []
    private var stores: [String] = []
    /// The variable of each node's value.
    private var results: [Int: String] = [:]
    private var known: [String: String] = [:]

    init(_ work: ElementwiseWork) {
        self.work = work
        let buffers =
            work.members.flatMap { $0.inputs.map(\.buffer) + [$0.target].compactMap { $0 } }
            + [work.head?.buffer].compactMap { $0 }
        let areGroups =
            work.shape.count.isMultiple(of: 4)
            && buffers.allSatisfy { $0.offset.isMultiple(of: 4) }
        lanes = areGroups ? 4 : 1
        write()
    }

    private mutating func write() {
        if let head = work.head {
            results[head.node] = load(head.buffer, Strides(head.buffer.shape).view)
        }
        // All is read before anything is written: a result may overwrite an operand.
        for member in work.members { compute(member) }
        for member in work.members {
            guard let target = member.target, let value = results[member.id] else { continue }
            store(value, to: parameter(target))
        }
    }

    /// The statements, for `q`, a group of elements `i`.
    var body: String {
        let type = DeviceKernel.indexType(parameters)
        let count = work.shape.count / lanes
        let code: [String]
        if lanes == 1 {
            code =
                ["RT_EACH(\(type), i, \(count)) {"] + (loads + lines + stores).map { "    " + $0 }
        } else {
            code =
                ["RT_EACH(\(type), q, \(count)) {"] + loads.map { "    " + $0 }
                + [
                    "    RT_UNROLL for (int l = 0; l < 4; l++) {",
                    "        const \(type) i = 4 * q + l;",
                ]
                + ["        (void)i;"] + lines.map { "        " + $0 } + ["    }"]
                + stores.map { "    " + $0 }
        }
        return (code + ["}"]).joined(separator: "\n")
    }

    private mutating func store(_ value: String, to target: String) {
        if lanes == 1 {
            stores.append("\(target)[i] = \(value);")
        } else {
            let group = "r\(stores.count)"
            loads.append("float \(group)[4];")
            lines.append("\(group)[l] = \(value);")
            stores.append("RT_STORE(\(target) + 4 * q, \(group));")
        }
    }

    private mutating func compute(_ member: ElementwiseWork.Member) {
        let view = member.operation as? any ViewOperation
        let operands = member.inputs.map { node, buffer in
            if view == nil, let result = results[node] { return result }
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
        let base = parameter(buffer)
        let place = "\(base)[\(view.source())]"
        if let name = known[place] { return name }
        let name: String
        if lanes == 4, view.isSameInGroups {
            name = "s\(loads.count)"
            loads.append("const float \(name) = \(base)[\(view.source("(4 * q)"))];")
        } else if lanes == 4, view.hasGroups {
            let group = "g\(loads.count)"
            loads.append(
                "float \(group)[4]; RT_LOAD(\(group), \(base) + \(view.source("(4 * q)")));")
            name = "\(group)[l]"
        } else {
            name = "v\(lines.count)"
            lines.append("const float \(name) = \(place);")
        }
        known[place] = name
        return name
    }

    private mutating func parameter(_ buffer: Buffer) -> String {
        let index = parameters.firstIndex {
            $0.storage.root === buffer.storage.root && $0.offset == buffer.offset
        }
        if index == nil { parameters.append(buffer) }
        return "p\(index ?? parameters.count - 1)"
    }
}

extension View {
    /// Whether each four elements, from a multiple of four on, lie one after another, at a place
    /// that is a multiple of four.
    fileprivate var hasGroups: Bool {
        guard let last = axes.last, last.step == 1 else { return false }
        return last.extent.isMultiple(of: 4) && offset.isMultiple(of: 4)
            && axes.dropLast().allSatisfy { $0.step.isMultiple(of: 4) }
    }

    /// Whether each four elements, from a multiple of four on, are the same one.
    fileprivate var isSameInGroups: Bool {
        guard let last = axes.last else { return false }
        return last.step == 0 && last.extent.isMultiple(of: 4)
    }
}
