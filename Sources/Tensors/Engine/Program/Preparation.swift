import RetintCompiler

/// The work once per load: reading variables, and computing values that depend only on them.
struct Preparation {
    /// A kernel, and the variables that it is the first to read.
    typealias PreparingStep = (kernel: Kernel, reads: [VariableBuffer])
    typealias VariableBuffer = (name: String, buffer: Buffer)

    let steps: [PreparingStep]
    /// The variables that runs read, and those that nothing reads.
    let kept: [VariableBuffer]
    /// The variables that are in memory only while steps read them.
    let released: Set<String>

    /// - Parameter releases: whether values that only these steps read share their memory with
    ///   those of a run. Then the steps must follow the reading of variables, before the first run.
    init(_ compiled: CompiledGraph, releases: Bool) {
        let hoisted = compiled.steps.filter(\.isHoisted)
        let transient = releases ? TransientValues(compiled, hoisted) : nil
        transient?.leaveMemory()
        let variables = compiled.values.variables
        let first = Dictionary(
            grouping: variables.filter { transient?.lifetime(of: $0.buffer) != nil },
            by: { (transient?.lifetime(of: $0.buffer)?.lowerBound ?? 0) })
        steps = hoisted.enumerated().map { index, step in
            (step.cpuKernel, first[index] ?? [])
        }
        let names = Set(first.values.joined().map(\.name))
        kept = variables.filter { !names.contains($0.name) }
        released = names
    }
}

/// The values that only the steps of a preparation use, and when they do.
private struct TransientValues {
    private var lifetimes: [ObjectIdentifier: (storage: Storage, steps: ClosedRange<Int>)] = [:]
    private let count: Int

    init(_ compiled: CompiledGraph, _ hoisted: [Step]) {
        let values = compiled.values
        count = hoisted.count
        func storage(_ id: Int) -> Storage { values.buffer(values.origin(id)).storage.root }
        let constants = Set(values.constants.map { ObjectIdentifier($0.buffer.storage.root) })
        for (index, step) in hoisted.enumerated() {
            for storage in (step.reads + step.writes).map(storage)
            where !constants.contains(ObjectIdentifier(storage)) {
                let first = lifetimes[ObjectIdentifier(storage)]?.steps.lowerBound ?? index
                lifetimes[ObjectIdentifier(storage)] = (storage, first...index)
            }
        }
        let running = compiled.steps.filter { !$0.isHoisted }
        for id in Array(values.roots) + running.flatMap({ $0.reads + $0.writes }) {
            lifetimes[ObjectIdentifier(storage(id))] = nil
        }
    }

    /// The first and last step that use a value; nil if other steps also use it.
    func lifetime(of buffer: Buffer) -> ClosedRange<Int>? {
        lifetimes[ObjectIdentifier(buffer.storage.root)]?.steps
    }

    /// Places the values in the arena, for a time before that of a run, which begins with its
    /// inputs at -1.
    func leaveMemory() {
        for (storage, steps) in lifetimes.values {
            let start = -1 - count
            storage.place(during: start + steps.lowerBound...start + steps.upperBound)
        }
    }
}
