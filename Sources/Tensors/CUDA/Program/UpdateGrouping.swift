import RetintCompiler

/// Joins the steps that compute new values of variables, such as those of an optimizer, to few: one
/// for all that compute the same. A network has hundreds of small ones, and a GPU takes as long to
/// start a kernel as to compute it.
///
/// A step is delayed until another one needs what it writes, or writes what it reads.
struct UpdateGrouping: StepPass {
    static let name = "group updates of variables"

    func run(on steps: [Step], values: ValueTable) -> [Step] {
        var result: [Step] = []
        var groups: [UpdateGroup] = []
        for step in steps {
            let memory = StepMemory(step, values)
            groups.removeAll { group in
                let hasConflict = group.memory.conflicts(with: memory)
                if hasConflict { result.append(group.step) }
                return hasConflict
            }
            guard memory.isUpdate(step) else {
                result.append(step)
                continue
            }
            if let index = groups.firstIndex(where: { $0.accepts(step) }) {
                groups[index].append(step, memory)
            } else {
                groups.append(UpdateGroup(step, memory))
            }
        }
        return result + groups.map(\.step)
    }
}

/// The memory that steps read and write.
private struct StepMemory {
    private var read: Set<ObjectIdentifier>
    private var written: Set<ObjectIdentifier>
    private let writesVariables: Bool

    init(_ step: Step, _ values: ValueTable) {
        func storages(_ ids: [Int]) -> Set<ObjectIdentifier> {
            Set(ids.map { ObjectIdentifier(values.buffer($0).storage.root) })
        }
        (read, written) = (storages(step.reads), storages(step.writes))
        writesVariables = step.writes.allSatisfy {
            values.buffer($0).storage.root.kind == .owned
        }
    }

    mutating func formUnion(_ other: StepMemory) {
        read.formUnion(other.read)
        written.formUnion(other.written)
    }

    /// Whether the order of steps with this memory and the other matters.
    func conflicts(with other: StepMemory) -> Bool {
        !(written.isDisjoint(with: other.written) && written.isDisjoint(with: other.read)
            && read.isDisjoint(with: other.written))
    }

    /// Whether it is that of a step that computes, element by element, nothing but variables.
    func isUpdate(_ step: Step) -> Bool {
        guard writesVariables, !step.isHoisted, let kernel = step.kernel as? RecordedKernel,
            kernel.work.count == 1, case .elementwise(let work) = kernel.work[0]
        else { return false }
        return work.head == nil
    }
}

/// Steps that compute the same operations, on other values.
private struct UpdateGroup {
    private(set) var memory: StepMemory
    private var steps: [Step]

    init(_ step: Step, _ memory: StepMemory) { (steps, self.memory) = ([step], memory) }

    func accepts(_ step: Step) -> Bool { step.kernel.name == steps[0].kernel.name }

    mutating func append(_ step: Step, _ memory: StepMemory) {
        steps.append(step)
        self.memory.formUnion(memory)
    }

    /// One step that does the work of all.
    var step: Step {
        guard steps.count > 1, let first = steps[0].kernel as? RecordedKernel else {
            return steps[0]
        }
        let kernel = RecordedKernel(first.name, first.work[0])
        for step in steps.dropFirst() {
            for work in (step.kernel as? RecordedKernel)?.work ?? [] { kernel.append(work) }
        }
        return Step(
            kernel: kernel, isHoisted: false, module: steps[0].module, shape: steps[0].shape,
            traffic: steps.reduce(0) { $0 + $1.traffic },
            nodes: steps.reduce(into: []) { $0.formUnion($1.nodes) },
            reads: steps.flatMap(\.reads), writes: steps.flatMap(\.writes))
    }
}
