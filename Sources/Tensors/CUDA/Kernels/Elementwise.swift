import RetintCompiler
import RetintGraph
import RetintTensors

extension DeviceKernel {
    /// A kernel of elementwise work: what is fused is one expression, and values that nothing else
    /// reads stay in registers.
    package init(_ work: ElementwiseWork) {
        let writer = ElementwiseWriter(work)
        self.init(
            "elementwise", writer.parameters, .elements(writer.threads), writer.body)
    }
}

/// Pieces of elementwise work that one kernel does: they differ only in their memory and in how
/// many elements they have.
package struct SegmentedKernel {
    package let source: KernelSource
    /// What each piece reads and writes.
    let segments: [[Buffer]]
    /// The threads that each piece needs.
    private let counts: [Int]
    private static let threads = 256
    /// The most blocks of a kernel.
    private static let mostBlocks = 1 << 20

    /// Pieces of work by what they compute, in the order of the first of each, with the kernel that
    /// does several; nil for one alone, or where they are too large together.
    static func kernels(_ works: [ElementwiseWork]) -> [(SegmentedKernel?, [ElementwiseWork])] {
        var order: [String] = []
        var groups: [String: [(work: ElementwiseWork, writer: ElementwiseWriter)]] = [:]
        for work in works {
            let writer = ElementwiseWriter(work)
            let key = writer.segmentBody
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append((work, writer))
        }
        return order.map { key in
            let members = groups[key] ?? []
            let kernel = SegmentedKernel(key, members.map(\.writer))
            return (kernel, members.map(\.work))
        }
    }

    private init?(_ body: String, _ writers: [ElementwiseWriter]) {
        segments = writers.map(\.parameters)
        counts = writers.map(\.threads)
        let blocks = counts.reduce(0) { $0 + Self.blocks($1) }
        guard writers.count > 1, blocks <= Self.mostBlocks else { return nil }
        let width = segments[0].count + 2
        source = KernelSource(
            "rt_segments", parameters: ["long long"], threads: Self.threads,
            body: "RT_SEGMENTS(s, p0, \(writers.count), \(width)) {\n\(body)\n}")
    }

    private static func blocks(_ count: Int) -> Int { max((count + threads - 1) / threads, 1) }

    /// The blocks of all pieces.
    var grid: DeviceKernel.Grid {
        .blocks(counts.reduce(0) { $0 + Self.blocks($1) }, threads: Self.threads)
    }

    /// For each piece its first block, its threads, and the addresses of its memory.
    var table: [Int64] {
        var (first, table) = (0, [Int64]())
        for (buffers, count) in zip(segments, counts) {
            table += [Int64(first), Int64(count)]
            table += buffers.map { Int64(bitPattern: UInt64($0.address)) }
            first += Self.blocks(count)
        }
        return table
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

    /// The elements, or groups of them, that threads compute.
    var threads: Int { work.shape.count / lanes }

    /// The statements, for `q`, a group of elements `i`.
    var body: String {
        let type = DeviceKernel.indexType(parameters)
        return body(type) { "RT_EACH(\(type), \($0), \(threads))" }
    }

    /// The statements for a segment `s`, whose entry has the addresses of the parameters.
    var segmentBody: String {
        let type = DeviceKernel.indexType(parameters)
        let pointers = parameters.enumerated().map { index, buffer in
            let name = buffer.storage.format.typeName
            return "\(name) *p\(index) = (\(name) *)s[\(index + 2)];\n"
        }
        return pointers.joined() + body(type) { "RT_PART(\(type), \($0), s)" }
    }

    private func body(_ type: String, _ loop: (_ index: String) -> String) -> String {
        let code: [String]
        if lanes == 1 {
            code = ["\(loop("i")) {"] + (loads + lines + stores).map { "    " + $0 }
        } else {
            code =
                ["\(loop("q")) {"] + loads.map { "    " + $0 }
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
