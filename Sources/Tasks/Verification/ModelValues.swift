import RetintEngine
import RetintGraph
import RetintRuntime

/// The values of another model, run in float32 alongside the model that is verified.
///
/// The two runs are interleaved: this one advances until it has the requested value. It buffers
/// only the values that the two models compute in a different order.
final class ModelValues: ExpectedValues {
    private let model: Model
    private var program: ModelProgram?
    private var matching: ValueMatching?
    private var wanted: Set<Int> = []
    private var run: ObservedRun?
    /// Values that have been computed but not yet requested.
    private var waiting: [Int: [Float]] = [:]
    /// The value that was requested last, and buffers to reuse.
    private var last: [Float] = []
    private var spare: [[Float]] = []
    /// Whether scalars are returned in row-major order, which takes longer.
    private let isRowMajor: Bool

    init(_ model: Model, isRowMajor: Bool = false) {
        self.model = model
        self.isRowMajor = isRowMajor
    }

    var source: String { model.name }

    var isSameNetwork: Bool { true }

    var isColorizer: Bool { get throws { try verifying { try model.interface.isColorizer } } }

    func prepare(first: VerificationInputs.Input, runs: Int) throws {
        program = try verifying { try model.program(on: first.tensors) }
    }

    func match(_ program: ModelProgram) {
        guard let other = self.program else { return }
        let matching = ValueMatching(program, other)
        wanted = Set(matching.indices.values)
        self.matching = matching
    }

    func keepOnly(_ indices: Set<Int>) {
        wanted = Set(indices.compactMap { matching?.indices[$0] })
    }

    func begin(_ inputs: [NamedTensor], at index: Int) throws {
        waiting = [:]
        run = try verifying { try program?.start(inputs) }
    }

    func name(for index: Int) -> String? {
        matching?.indices[index].flatMap { program?.values[$0].name }
    }

    func scalars(for index: Int) -> ExpectedScalars? {
        guard let wanted = matching?.indices[index] else { return nil }
        // The caller is done with the previous value.
        if !isRowMajor { spare.append(last) }
        last = []
        while waiting[wanted] == nil, let values = run?.next() {
            for value in values where self.wanted.contains(value.index) { keep(value) }
        }
        guard let scalars = waiting.removeValue(forKey: wanted) else { return nil }
        last = scalars
        return isRowMajor ? .rowMajor(scalars) : .inEngineOrder(scalars)
    }

    private func keep(_ value: ObservedValue) {
        guard !isRowMajor else {
            waiting[value.index] = value.data.scalars
            return
        }
        var scalars = spare.popLast() ?? []
        value.copyScalars(to: &scalars)
        waiting[value.index] = scalars
    }

    func outputs() throws -> [NamedTensor] {
        guard let program, let results = try run?.finish() else { return [] }
        return try program.named(results).checked(in: source)
    }
}
