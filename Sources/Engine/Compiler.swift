import CKernels
import TensorGraph

/// Turns a lowered graph into steps over buffers.
struct Compiler {
    struct Step {
        let kernel: Kernel
        /// Runs when variables are loaded, not at every run.
        let isHoisted: Bool
        /// The module that asked for it, and the shape of its result: for reports.
        let module: String
        let shape: Shape
        /// Elements that it reads and writes, each once.
        let traffic: Int
    }

    let graph: Graph
    let roots: Set<Int>
    private(set) var buffers: [Int: Buffer] = [:]
    var steps: [Step] = []
    private(set) var variables: [(name: String, buffer: Buffer)] = []
    private(set) var inputs: [(name: String, buffer: Buffer)] = []
    private(set) var arena: [Storage] = []
    private var aliases: [Int: Int] = [:]
    private var hoisted: Set<Int> = []
    private(set) var consumers: [Int: Set<Int>] = [:]
    private let updates: [(variable: Int, value: Int)]

    /// - Parameters:
    ///   - outputs: nodes to be read after a run.
    ///   - observed: nodes to be read once their step is done.
    ///   - updates: variables, and the nodes that they become.
    init(
        _ graph: Graph, outputs: [Int], observed: [Int], updates: [(variable: Int, value: Int)]
    ) {
        self.graph = graph
        self.updates = updates
        roots = Set(outputs + observed + updates.map(\.value))
        let order = graph.live(from: Array(roots) + updates.map(\.variable))
        for id in order { prepare(id) }
        let (renamed, hoisted) = (aliases, self.hoisted)
        let computed = order.filter { !graph.nodes[$0].inputs.isEmpty && renamed[$0] == nil }
        let fusion = Fusion(
            graph, order: computed, sources: renamed, isHoisted: { hoisted.contains($0) })
        let schedule = fusion.schedule()
        for group in schedule { build(group) }
        applyUpdates()
        chainSteps()
        batchSteps()
        setLifetimes(outputs: outputs)
    }

    private func isSource(_ id: Int) -> Bool { graph.nodes[id].inputs.isEmpty }

    /// The node whose memory holds this node's value.
    func origin(_ id: Int) -> Int { aliases[id] ?? id }

    // MARK: Buffers

    private mutating func prepare(_ id: Int) {
        let node = graph.nodes[id]
        for input in node.inputs { consumers[input, default: []].insert(id) }
        if isConstantPerLoad(id) { hoisted.insert(id) }
        if node.operation is Reshape, isRename(id) {
            let source = origin(node.inputs[0])
            aliases[id] = source
            buffers[id] = Buffer(shape: node.shape, storage: storage(of: source))
            return
        }
        switch node.operation {
        case let constant as Constant:
            let buffer = own(id, .owned)
            buffer.load(constant.data.scalars)
        case let variable as Variable: variables.append((variable.variableName, own(id, .owned)))
        case let input as Input:
            inputs.append((input.inputName, own(id, .arena)))
        default: _ = own(id, .arena)
        }
    }

    private func storage(of id: Int) -> Storage {
        guard let buffer = buffers[id] else { preconditionFailure("node \(id) has no buffer") }
        return buffer.storage
    }

    private mutating func own(_ id: Int, _ kind: Storage.Kind) -> Buffer {
        let shape = graph.nodes[id].shape
        // What is computed once per load must outlive all runs.
        let isKept = kind == .owned || (hoisted.contains(id) && !isSource(id))
        let storage = Storage(kind: isKept ? .owned : .arena, count: shape.count)
        if !isKept { arena.append(storage) }
        let buffer = Buffer(shape: shape, storage: storage)
        buffers[id] = buffer
        return buffer
    }

    private func isRename(_ id: Int) -> Bool {
        let node = graph.nodes[id]
        let source = graph.nodes[node.inputs[0]]
        return Layout.isRowMajor(node.shape) && Layout.isRowMajor(source.shape)
    }

    /// Whether a value depends on variables and constants alone, none of which a run changes.
    private func isConstantPerLoad(_ id: Int) -> Bool {
        let node = graph.nodes[id]
        switch node.operation {
        case is Constant: return true
        case is Input: return false
        case let variable as Variable:
            return variable.role != .setting && updates.isEmpty
        default: return node.inputs.allSatisfy { hoisted.contains($0) }
        }
    }

    // MARK: Steps

    private mutating func build(_ group: FusionGroup) {
        let isHoisted = group.nodes.allSatisfy { hoisted.contains($0) }
        guard let head = group.head else {
            let program = elementwiseProgram(group)
            let name = group.members.map { graph.nodes[$0].operation.name }.joined(separator: "+")
            add(ElementwiseKernel(name: name, program: program), group, isHoisted)
            return
        }
        let kernel = makeKernel(head)
        observe(kernel, head)
        if !group.members.isEmpty, let fusing = kernel as? FusingKernel {
            let program = elementwiseProgram(group)
            fusing.epilogue = program
        }
        add(kernel, group, isHoisted)
    }

    var stepReads: [[Int]] = []
    var stepWrites: [[Int]] = []
    var stepNodes: [Set<Int>] = []

    private mutating func add(_ kernel: Kernel, _ group: FusionGroup, _ isHoisted: Bool) {
        let inside = Set(group.nodes)
        let reads = Set(group.nodes.flatMap { graph.nodes[$0].inputs.map(origin) })
            .subtracting(inside).sorted()
        let results = group.nodes.filter { isNeededOutside($0, inside) }
        // What is shown to it, a kernel finds in the cache.
        let isShown = (kernel as? ChannelSumsKernel)?.isShown ?? false
        let traffic = ((isShown ? [] : reads) + results).reduce(0) {
            $0 + graph.nodes[$1].shape.count
        }
        let modules = group.nodes.map { graph.nodes[$0].module }
        steps.append(
            Step(
                kernel: kernel, isHoisted: isHoisted,
                module: modules.first { !$0.isEmpty } ?? "", shape: group.shape,
                traffic: traffic))
        stepReads.append(reads)
        stepNodes.append(inside)
        stepWrites.append(group.nodes.filter { isNeededOutside($0, inside) || isRaw($0, group) })
    }

    /// Whether a node is a head whose raw result lives on in the last member's memory.
    private func isRaw(_ id: Int, _ group: FusionGroup) -> Bool {
        id == group.head
    }

    /// Lets a kernel of sums watch the step that computes what it sums, if it can: all else that
    /// it reads must be there before.
    private mutating func observe(_ kernel: Kernel, _ id: Int) {
        let node = graph.nodes[id]
        guard let operation = node.operation as? any ObservingOperation,
            let sums = kernel as? ChannelSumsKernel
        else { return }
        let watched = node.inputs[operation.observedInput]
        let others = node.inputs.filter { $0 != watched }.map(origin)
        guard graph.nodes[watched].shape.rank == 4, aliases[watched] == nil,
            let step = stepWrites.lastIndex(where: { $0.contains(watched) }),
            steps[step].shape == graph.nodes[watched].shape,
            steps[step].kernel.servesObservers(channels: sums.channels),
            stepWrites[step...].allSatisfy({ $0.allSatisfy { !others.contains($0) } })
        else { return }
        sums.isShown = true
        steps[step].kernel.observers.append(sums)
        stepReads[step] += others
    }

    private func makeKernel(_ id: Int) -> Kernel {
        let node = graph.nodes[id]
        guard let operation = node.operation as? any Executable, let output = buffers[id] else {
            preconditionFailure("\(node.operation.name) has no kernel")
        }
        return operation.kernel(inputs: node.inputs.compactMap { buffers[$0] }, output: output)
    }

    func isNeededOutside(_ id: Int, _ inside: Set<Int>) -> Bool {
        if roots.contains(id) { return true }
        return (consumers[id] ?? []).contains { !inside.contains($0) }
    }

    private mutating func elementwiseProgram(_ group: FusionGroup) -> ElementwiseProgram {
        var builder = ElementwiseBuilder(count: group.shape.count)
        let inside = Set(group.nodes)
        if let head = group.head, let last = group.members.last, let raw = buffers[head],
            let result = buffers[last], !isNeededOutside(head, inside)
        {
            // The head writes where the last member will: it is read before it is overwritten.
            raw.storage.host = result.storage
        }
        if let head = group.head, let raw = buffers[head] {
            builder.results[head] = builder.slot(raw)
        }
        for id in group.members {
            let node = graph.nodes[id]
            let target = isNeededOutside(id, inside) ? buffers[id] : nil
            builder.append(node.operation, id, target: target) { index in
                let input = node.inputs[index]
                guard let buffer = buffers[input] else {
                    preconditionFailure("node \(input) has no buffer")
                }
                return (input, buffer, node.shape)
            } count: {
                node.inputs.count
            }
        }
        return builder.program()
    }

    // MARK: Updates and lifetimes

    /// New values become the variables' own, after all steps have read the old ones.
    private mutating func applyUpdates() {
        for update in updates {
            guard let source = buffers[update.value], let target = buffers[update.variable] else {
                continue
            }
            if !writeInPlace(update) {
                steps.append(
                    Step(
                        kernel: CopyKernel(source: source, target: target), isHoisted: false,
                        module: "", shape: source.shape, traffic: 2 * source.count))
                stepReads.append([origin(update.value)])
                stepWrites.append([update.variable])
                stepNodes.append([])
            }
        }
    }

    /// Lets the step that computes a new value write it over the old one, where no later step
    /// still reads the old one and where the step itself reads it element by element.
    private func writeInPlace(_ update: (variable: Int, value: Int)) -> Bool {
        let value = origin(update.value)
        guard value == update.value, updates.filter({ $0.value == value }).count == 1,
            let writer = stepWrites.firstIndex(where: { $0.contains(value) }),
            steps[writer].kernel is ElementwiseKernel,
            let source = buffers[value], source.storage.kind == .arena,
            source.storage.host == nil, let target = buffers[update.variable]
        else { return false }
        let lastRead = stepReads.lastIndex { $0.contains(update.variable) }
        if let lastRead, lastRead > writer { return false }
        if lastRead == writer, !readsDirectly(update.variable, by: value, in: writer) {
            return false
        }
        source.storage.host = target.storage
        return true
    }

    /// Whether within a step the variable is only read before or when `value` is written, each
    /// element for its own place.
    private func readsDirectly(_ variable: Int, by value: Int, in step: Int) -> Bool {
        let shape = graph.nodes[value].shape
        let readers = (consumers[variable] ?? []).flatMap { reader in
            aliases[reader] == nil ? [reader] : Array(consumers[reader] ?? [reader])
        }.filter { stepNodes[step].contains($0) }
        return graph.nodes[variable].shape == shape
            && readers.allSatisfy { reader in
                reader <= value && graph.nodes[reader].shape == shape
                    && graph.nodes[reader].operation is any PointwiseOperation
            }
    }

    /// Makes one step of neighbouring elementwise steps of one kind that need nothing of each other.
    private mutating func batchSteps() {
        var kept: [Int] = []
        for step in steps.indices {
            if let last = kept.last, canBatch(step, with: last) {
                merge(step, into: last)
            } else {
                kept.append(step)
            }
        }
        steps = kept.map { steps[$0] }
        stepReads = kept.map { stepReads[$0] }
        stepWrites = kept.map { stepWrites[$0] }
        stepNodes = kept.map { stepNodes[$0] }
    }

    private func canBatch(_ step: Int, with other: Int) -> Bool {
        let (a, b) = (steps[other], steps[step])
        guard let first = a.kernel as? ElementwiseKernel,
            let second = b.kernel as? ElementwiseKernel,
            first.name == second.name, a.isHoisted == b.isHoisted,
            first.observers.isEmpty, second.observers.isEmpty
        else { return false }
        func roots(_ ids: [Int]) -> Set<ObjectIdentifier> {
            Set(ids.map { ObjectIdentifier(storage(of: $0).root) })
        }
        let (written, writes) = (roots(stepWrites[other]), roots(stepWrites[step]))
        return written.isDisjoint(with: writes) && written.isDisjoint(with: roots(stepReads[step]))
            && writes.isDisjoint(with: roots(stepReads[other]))
    }

    private mutating func merge(_ step: Int, into other: Int) {
        guard let first = steps[other].kernel as? ElementwiseKernel,
            let second = steps[step].kernel as? ElementwiseKernel
        else { return }
        steps[other] = Step(
            kernel: ElementwiseKernel(
                name: first.name, programs: first.programs + second.programs),
            isHoisted: steps[other].isHoisted, module: steps[other].module,
            shape: steps[other].shape, traffic: steps[other].traffic + steps[step].traffic)
        stepReads[other] += stepReads[step]
        stepWrites[other] += stepWrites[step]
    }

    private func setLifetimes(outputs: [Int]) {
        for (step, reads) in stepReads.enumerated() {
            for id in reads { storage(of: id).root.use(at: step) }
            for id in stepWrites[step] { storage(of: id).root.use(at: step) }
        }
        for input in inputs { input.buffer.storage.use(at: -1) }
        for output in outputs { storage(of: origin(output)).root.use(at: steps.count) }
    }

    /// The storages that need a place in the arena.
    var placed: [Storage] { arena.filter { $0.host == nil && $0.lifetime != nil } }
}

/// Puts elementwise nodes together as one program.
private struct ElementwiseBuilder {
    let count: Int
    private var slots: [Slot] = []
    private var instructions: [Instruction] = []
    /// The slot of each node computed so far.
    var results: [Int: Int] = [:]
    private var operands: [(node: Int, view: View, slot: Int)] = []

    init(count: Int) {
        self.count = count
    }

    mutating func slot(_ buffer: Buffer) -> Int {
        slots.append(Slot(source: .direct(buffer)))
        return slots.count - 1
    }

    mutating func append(
        _ operation: any Operation, _ id: Int, target: Buffer?,
        operand: (Int) -> (node: Int, buffer: Buffer, shape: Shape), count: () -> Int
    ) {
        let inputs = (0..<count()).map { index in
            let (node, buffer, shape) = operand(index)
            if let view = operation as? any ViewOperation {
                return load(node, buffer, view.view(of: buffer.shape, output: shape))
            }
            if let slot = results[node] { return slot }
            return load(node, buffer, View(broadcasting: buffer.shape, to: shape))
        }
        let code = (operation as? any PointwiseOperation)?.instruction ?? .init(opcode: RT_COPY)
        slots.append(Slot(source: target.map { .direct($0) } ?? .temporary))
        results[id] = slots.count - 1
        instructions.append(
            Instruction(code: code, target: slots.count - 1, operands: inputs))
    }

    private mutating func load(_ node: Int, _ buffer: Buffer, _ view: View) -> Int {
        if let known = operands.first(where: { $0.node == node && $0.view == view }) {
            return known.slot
        }
        slots.append(Slot(source: source(buffer, view)))
        operands.append((node, view, slots.count - 1))
        return slots.count - 1
    }

    private func source(_ buffer: Buffer, _ view: View) -> Slot.Source {
        if view.isContiguous && buffer.count == count { return .direct(buffer) }
        if view.isScalar && view.offset == 0 { return .repeated(buffer, view) }
        if let length = view.repeatedVector, length <= ElementwiseProgram.longestPattern {
            return .repeated(buffer, view)
        }
        return .gathered(buffer, view)
    }

    func program() -> ElementwiseProgram {
        ElementwiseProgram(count: count, slots: slots, instructions: instructions)
    }
}
