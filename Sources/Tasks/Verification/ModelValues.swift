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
    private var matches: [Int: StructuralMatching.Pair] = [:]
    private var wanted: Set<Int> = []
    private var run: ObservedRun?
    /// Values that have been computed but not yet requested.
    private var waiting: [Int: [Float]] = [:]
    /// The value that was requested last, and buffers to reuse.
    private var last: [Float] = []
    private var spare: [[Float]] = []
    /// Whether scalars are returned in row-major order, which takes longer.
    private var isRowMajor: Bool

    /// What float32 loses in the model, if a bound needs it.
    private let rounding: RoundingErrors?

    init(_ model: Model, rounding: RoundingErrors? = nil, isRowMajor: Bool = false) {
        (self.model, self.rounding) = (model, rounding)
        self.isRowMajor = isRowMajor
    }

    var source: String { model.name }

    var isSameNetwork: Bool { true }

    var isColorizer: Bool { get throws { try verifying { try model.interface.isColorizer } } }

    func prepare(first: VerificationInputs.Input, runs: Int) throws {
        program = try verifying { try model.program(on: first.tensors) }
    }

    func match(_ program: ModelProgram, on inputs: VerificationInputs) throws {
        guard let other = self.program else { return }
        let matching = ValueMatching(program, other)
        matches = matching.pairs
        if matching.leavesMany {
            let own = try program.items(on: inputs, count: 2)
            let theirs = try other.items(on: inputs, count: 2)
            let differences = zip(program.outputIndices, other.outputIndices).map { first, second in
                Self.difference(first.map { own[$0] }, second.map { theirs[$0] })
            }
            let structural = StructuralMatching(
                own, theirs, names: matching.pairs,
                outputDifference: differences.max() ?? .infinity)
            // Other nodes with other values are those of another network.
            let agreeing = structural.pairs.values.count { $0.pairing == .values }
            let fewest = min(program.values.count, other.values.count)
            if !matching.nodesDiffer || 2 * agreeing >= fewest {
                matches = structural.pairs
                // Values that were paired by their elements may have different shapes, and layouts.
                isRowMajor = true
            }
        }
        wanted = Set(matches.values.map(\.other))
    }

    /// The relative difference of two outputs; 0 for one that is not computed.
    private static func difference(
        _ own: StructuralMatching.Item?, _ other: StructuralMatching.Item?
    ) -> Double {
        guard let own, let expected = other?.signature else { return 0 }
        return own.difference(from: expected)
    }

    func keepOnly(_ indices: Set<Int>) {
        wanted = Set(indices.compactMap { matches[$0]?.other })
    }

    func begin(_ inputs: [NamedTensor], at index: Int) throws {
        waiting = [:]
        run = try verifying { try program?.start(inputs) }
    }

    func counterpart(of index: Int) -> Counterpart? {
        guard let pair = matches[index], let program else { return nil }
        return Counterpart(
            name: program.values[pair.other].name, pairing: pair.pairing,
            rounding: rounding?.layers[pair.other])
    }

    func scalars(for index: Int) -> ExpectedScalars? {
        guard let wanted = matches[index]?.other else { return nil }
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
