import RetintFloat64
import RetintGraph
import RetintRuntime
import RetintTensors

/// The values of a model's graph in float64, rounded to float32: what the model's own run in
/// float32 is compared with.
final class Float64Values: ExpectedValues {
    private let model: Model
    private var graph: ModelGraph?
    /// The indices of the graph's values by their nodes.
    private var indices: [Int: Int] = [:]
    private var outputNodes: Set<Int> = []
    private var run: Float64Run?
    /// Values that have been computed but not yet requested.
    private var waiting: [Int: [Float]] = [:]
    private var results: [Int: TensorData] = [:]

    init(_ model: Model) { self.model = model }

    var source: String { "\(model.name) in float64" }

    var isSameNetwork: Bool { true }

    var isColorizer: Bool { get throws { try verifying { try model.interface.isColorizer } } }

    func prepare(first: VerificationInputs.Input, runs: Int) throws {
        let graph = try verifying { try model.graph(on: first.tensors, folds: false) }
        self.graph = graph
        indices = Dictionary(graph.values.enumerated().map { ($1.tensor.id, $0) }) { $1 }
        outputNodes = Set(graph.outputs.map(\.value.id))
    }

    /// The other program is the same model's, whose values have the same indices.
    func match(_ program: ModelProgram, on inputs: VerificationInputs) {}

    func counterpart(of index: Int) -> Counterpart? {
        graph.map { Counterpart(name: $0.values[index].description.name, pairing: .recorded) }
    }

    func begin(_ inputs: [NamedTensor], at index: Int) throws {
        (waiting, results) = ([:], [:])
        run = try verifying { try graph?.float64Run(inputs) }
    }

    func scalars(for index: Int) throws -> ExpectedScalars? {
        while waiting[index] == nil, try advance() {}
        return waiting.removeValue(forKey: index).map { .rowMajor($0) }
    }

    func outputs() throws -> [NamedTensor] {
        waiting = [:]
        while try advance() {}
        guard let graph else { return [] }
        let outputs = graph.outputs.compactMap { output in
            results[output.value.id].map { NamedTensor(output.name, $0) }
        }
        return try outputs.checked(in: source)
    }

    /// Evaluates one more node; false when there is none.
    private func advance() throws -> Bool {
        let next: (id: Int, value: Float64Array)?
        do {
            next = try run?.next()
        } catch let error as GraphError {
            throw VerificationError(.badModel, path: model.name, "\(error)")
        }
        guard let (id, value) = next else { return false }
        let isOutput = outputNodes.contains(id)
        guard isOutput || indices[id] != nil else { return true }
        let rounded = value.rounded
        if isOutput { results[id] = rounded }
        if let index = indices[id] { waiting[index] = rounded.scalars }
        return true
    }
}
