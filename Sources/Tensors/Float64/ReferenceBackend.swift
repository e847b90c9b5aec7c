import RetintCompiler
import RetintDistributed
import RetintGraph
import RetintTensors

/// Every operation as it is defined, in float64 on one thread. It shares with other backends only
/// what the compiler decides: steps, their order, and where values are.
package struct ReferenceBackend: RecordingBackend {
    package init() {}

    package func appliesElementwiseWork(to operation: any Operation) -> Bool { true }

    package func kernel(
        of node: Graph.Node, inputs: [Buffer], output: Buffer, _ communicator: Communicator
    ) throws(GraphError) -> any StepKernel {
        let operation = node.operation
        guard operation is any Float64Operation || operation is any HostOperation else {
            throw GraphError(
                operation: operation.name, module: node.module,
                inputShapes: inputs.map(\.shape),
                reason: "this operation is not computed in float64; "
                    + "choose another device than reference")
        }
        return RecordedKernel(
            operation.name, .operation(node, inputs: inputs, output: output))
    }
}

/// - Throws: ``GraphError`` if the operation's own code fails, or its values are not of the shape.
private func values(
    of node: Graph.Node, _ inputs: [Float64Array], _ shape: Shape
) throws(GraphError) -> [Double] {
    let values: [Double]
    do {
        switch node.operation {
        case let operation as any Float64Operation:
            values = try operation.float64(inputs, shape: shape)
        case let operation as any HostOperation:
            // Its own code computes in float32.
            values = try operation.evaluate(inputs.map(\.rounded)).scalars.map(Double.init)
        default: values = []
        }
    } catch {
        throw failure("\(error)")
    }
    guard values.count == shape.count else {
        throw failure("it computed \(values.count) values for shape \(shape)")
    }
    return values

    func failure(_ reason: String) -> GraphError {
        GraphError(
            operation: node.operation.name, module: node.module,
            inputShapes: inputs.map(\.shape), reason: reason)
    }
}

/// The memory of a program: a storage's address is the place of its first element, plus 1.
struct ReferenceMemory {
    private var elements: [Double]

    init(count: Int) { elements = [Double](repeating: 0, count: count) }

    /// Where the elements of a buffer are, in row-major order.
    private func places(of buffer: Buffer) -> [Int] {
        let strides = Strides(buffer.shape)
        return offsets(
            buffer.shape.dimensions, strides: strides.steps, start: start(of: buffer))
    }

    private func start(of buffer: Buffer) -> Int {
        Int(buffer.storage.address) - 1 + buffer.offset
    }

    /// The elements in row-major order.
    func array(_ buffer: Buffer) -> Float64Array {
        Float64Array(shape: buffer.shape, values: places(of: buffer).map { elements[$0] })
    }

    /// - Parameter values: in row-major order.
    mutating func write(_ values: [Double], to buffer: Buffer) {
        for (place, value) in zip(places(of: buffer), values) { elements[place] = value }
    }

    /// The elements in the order of memory.
    func range(_ buffer: Buffer) -> ArraySlice<Double> {
        let start = start(of: buffer)
        return elements[start..<start + buffer.count]
    }

    mutating func perform(_ work: RecordedKernel.Work) throws(GraphError) {
        switch work {
        case .operation(let node, let inputs, let output):
            let inputs = inputs.map { array($0) }
            write(try values(of: node, inputs, output.shape), to: output)
        case .elementwise(let work): compute(work)
        case .copy(let source, let target): write(array(source).values, to: target)
        }
    }

    /// Computes elementwise work in the order of memory.
    private mutating func compute(_ work: ElementwiseWork) {
        var results: [Int: [Double]] = [:]
        if let head = work.head { results[head.node] = Array(range(head.buffer)) }
        for member in work.members {
            let isView = member.operation as? any ViewOperation
            let operands = member.inputs.map { node, buffer in
                let view =
                    isView?.view(of: buffer.shape, output: work.shape)
                    ?? Strides(buffer.shape).broadcast(to: work.shape).view
                let values = isView == nil ? results[node] : nil
                return Float64Array(
                    shape: work.shape, values: values ?? gathered(view, of: buffer))
            }
            let elementwise = member.operation as? any ElementwiseOperation
            results[member.id] =
                elementwise?.float64(operands, shape: work.shape) ?? operands[0].values
        }
        for member in work.members {
            guard let target = member.target, let values = results[member.id] else { continue }
            elements.replaceSubrange(
                start(of: target)..<start(of: target) + target.count, with: values)
        }
    }

    private func gathered(_ view: View, of buffer: Buffer) -> [Double] {
        offsets(
            view.axes.map(\.extent), strides: view.axes.map(\.step),
            start: start(of: buffer) + view.offset
        ).map { elements[$0] }
    }
}

/// Runs steps of the ``ReferenceBackend``.
package final class ReferenceExecutor: Executor {
    private let compiled: CompiledGraph
    private var memory: ReferenceMemory
    private let plan: MemoryPlan
    private var isPrepared = false
    /// The failures of the last preparation, and of the last run, by their steps.
    private var preparationFailures: [Int: GraphError] = [:]
    private var runFailures: [Int: GraphError] = [:]

    /// - Throws: `GraphError` if the memory exceeds the budget.
    package init(_ compiled: CompiledGraph) throws(GraphError) {
        self.compiled = compiled
        plan = MemoryPlan(compiled.values.placedStorages)
        // Twice the bytes that the budget counts for owned values.
        let owned = compiled.values.ownedStorages.reduce(0) { $0 + $1.count }
        if let excess = compiled.values.budget.excess(2 * plan.count + owned) {
            throw GraphError(
                operation: "compile", reason: "its values in float64 need \(excess)")
        }
        var end = plan.count
        for (storage, offset) in plan.offsets { storage.bind(to: UInt(offset + 1)) }
        for storage in compiled.values.ownedStorages {
            storage.bind(to: UInt(end + 1))
            end += storage.count
        }
        for storage in compiled.values.hostedStorages { storage.bindToHost() }
        memory = ReferenceMemory(count: end)
        for constant in compiled.values.constants {
            memory.write(constant.data.scalars.map(Double.init), to: constant.buffer)
        }
    }

    package var threads: Int { 1 }
    package var elementBytes: Int { MemoryLayout<Double>.size }
    package var arenaBytes: Int { plan.count * MemoryLayout<Double>.size }
    package var released: Set<String> { [] }

    package func exclusively<Failure>(
        _ body: () throws(Failure) -> Void
    ) throws(Failure) { try body() }

    package func load(_ sources: [String: any TensorSource]) throws {
        isPrepared = false
        for (name, buffer) in compiled.values.variables {
            guard let source = sources[name] else { continue }
            write(try source.tensorData().scalars, to: buffer)
        }
    }

    package func write(_ scalars: [Float], to buffer: Buffer) {
        memory.write(scalars.map(Double.init), to: buffer)
    }

    package func read(_ buffer: Buffer) -> [Float] {
        memory.array(buffer).values.map { Float($0) }
    }

    package func copy(_ buffer: Buffer, to scalars: inout [Float]) {
        scalars.removeAll(keepingCapacity: true)
        scalars.append(contentsOf: memory.range(buffer).lazy.map { Float($0) })
    }

    package func largestMagnitude(of buffer: Buffer) -> Float {
        memory.range(buffer).reduce(0) {
            $0.isNaN || $1.isNaN ? .nan : max($0, Float($1.magnitude))
        }
    }

    package func prepare() {
        guard !isPrepared else { return }
        preparationFailures = [:]
        for (index, step) in compiled.steps.enumerated() where step.isHoisted {
            preparationFailures[index] = run(step)
        }
        isPrepared = true
    }

    private lazy var steps = compiled.steps.filter { !$0.isHoisted }

    package var failure: GraphError? {
        for failures in [preparationFailures, runFailures] {
            if let first = failures.min(by: { $0.key < $1.key }) { return first.value }
        }
        return nil
    }

    package func run(step index: Int) { runFailures[index] = run(steps[index]) }

    package func run(isCancelled: () -> Bool) -> Bool {
        for index in steps.indices {
            if isCancelled() { return false }
            run(step: index)
        }
        return true
    }

    /// - Returns: why it failed; nil if it did not.
    private func run(_ step: Step) -> GraphError? {
        do throws(GraphError) {
            for work in step.recordedWork { try memory.perform(work) }
            return nil
        } catch {
            return error
        }
    }
}
