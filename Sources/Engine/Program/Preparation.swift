/// The steps that run once per load, and the memory of values that nothing reads after them.
struct Preparation {
    /// A kernel, and the storages that it reads as the last one.
    typealias PreparingStep = (kernel: Kernel, lastRead: [Storage])

    let steps: [PreparingStep]
    /// The variables that are given back.
    let releasedVariables: Set<String>

    /// - Parameter releases: whether memory is given back at all.
    init(_ compiled: CompiledGraph, releases: Bool) {
        let values = compiled.values
        func storage(_ id: Int) -> Storage { values.buffer(values.origin(id)).storage.root }
        var kept = Set(values.roots.map { ObjectIdentifier(storage($0)) })
        var lastReader: [ObjectIdentifier: (step: Int, storage: Storage)] = [:]
        var kernels: [Kernel] = []
        for step in compiled.steps {
            if !step.isHoisted {
                kept.formUnion((step.reads + step.writes).map { ObjectIdentifier(storage($0)) })
                continue
            }
            for id in step.reads {
                lastReader[ObjectIdentifier(storage(id))] = (kernels.count, storage(id))
            }
            kernels.append(step.kernel)
        }
        let released = lastReader.filter { releases && !kept.contains($0.key) }
        steps = kernels.enumerated().map { index, kernel in
            (kernel, released.values.filter { $0.step == index }.map(\.storage))
        }
        let variables = values.variables.filter { variable in
            released[ObjectIdentifier(variable.buffer.storage.root)] != nil
        }
        releasedVariables = Set(variables.map(\.name))
    }
}
