import RetintCompiler

/// Joins adjacent, independent elementwise steps that compute the same operations into one step.
struct ElementwiseBatching: StepPass {
    static let name = "batch elementwise steps"

    func run(on steps: [Step], values: ValueTable) -> [Step] {
        var result: [Step] = []
        var batch: ElementwiseBatch?
        for step in steps {
            if batch?.accepts(step, values) == true {
                batch?.append(step, values)
            } else {
                if let batch { result.append(batch.step) }
                batch = ElementwiseBatch(step, values)
            }
        }
        if let batch { result.append(batch.step) }
        return result
    }
}

/// Steps that may run as one.
private struct ElementwiseBatch {
    private var steps: [Step]
    private var programs: [ElementwiseProgram]
    private var read: Set<ObjectIdentifier> = []
    private var written: Set<ObjectIdentifier> = []

    init(_ step: Step, _ values: ValueTable) {
        (steps, programs) = ([], [])
        append(step, values)
    }

    private func storages(_ ids: [Int], _ values: ValueTable) -> Set<ObjectIdentifier> {
        Set(ids.map { ObjectIdentifier(values.buffer($0).storage.root) })
    }

    mutating func append(_ step: Step, _ values: ValueTable) {
        programs += (step.kernel as? any BatchableKernel)?.batchablePrograms ?? []
        read.formUnion(storages(step.reads, values))
        written.formUnion(storages(step.writes, values))
        steps.append(step)
    }

    /// Whether a step computes the same as the first, and neither depends on the other.
    func accepts(_ step: Step, _ values: ValueTable) -> Bool {
        guard !programs.isEmpty, let kernel = step.kernel as? any BatchableKernel,
            !kernel.batchablePrograms.isEmpty, kernel.name == steps[0].kernel.name,
            step.isHoisted == steps[0].isHoisted
        else { return false }
        let writes = storages(step.writes, values)
        return written.isDisjoint(with: writes) && read.isDisjoint(with: writes)
            && written.isDisjoint(with: storages(step.reads, values))
    }

    /// One step that does the work of all.
    var step: Step {
        guard steps.count > 1 else { return steps[0] }
        return Step(
            kernel: ElementwiseKernel(name: steps[0].kernel.name, programs: programs),
            isHoisted: steps[0].isHoisted, module: steps[0].module, shape: steps[0].shape,
            traffic: steps.reduce(0) { $0 + $1.traffic },
            nodes: steps.reduce(into: []) { $0.formUnion($1.nodes) },
            reads: steps.flatMap(\.reads), writes: steps.flatMap(\.writes))
    }
}
