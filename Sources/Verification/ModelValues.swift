import Engine
import TensorGraph

/// What another model, run in float32 beside the one that is verified, expects.
///
/// The two take turns: this one goes on until it has what is asked for, so that no more values are
/// kept than the orders of the two differ by.
final class ModelValues: ExpectedValues {
    private let model: VerifiedModel
    private var prepared: PreparedModel?
    private var matching: ValueMatching?
    private var wanted: Set<Int> = []
    private var run: ObservedRun?
    /// Values that were computed but not asked for yet.
    private var waiting: [Int: [Float]] = [:]
    /// What was asked for last, and memory that can be used again.
    private var last: [Float] = []
    private var spare: [[Float]] = []

    init(_ model: VerifiedModel) {
        self.model = model
    }

    var source: String { model.path }

    func match(_ model: PreparedModel, first: Sample, runs: Int) throws {
        let prepared = try self.model.prepare(for: first.inputs)
        let matching = ValueMatching(model, prepared)
        wanted = Set(matching.places.values)
        (self.prepared, self.matching) = (prepared, matching)
    }

    func begin(_ sample: Sample, at index: Int) throws {
        waiting = [:]
        run = try prepared?.start(sample.inputs)
    }

    func name(for place: Int) -> String? {
        matching?.places[place].flatMap { prepared?.values[$0].name }
    }

    func numbers(for place: Int) -> ExpectedNumbers? {
        guard let wish = matching?.places[place] else { return nil }
        // Whoever asks again is done with what came before.
        spare.append(last)
        last = []
        while waiting[wish] == nil, let values = run?.next() {
            for value in values where wanted.contains(value.index) { keep(value) }
        }
        guard let numbers = waiting.removeValue(forKey: wish) else { return nil }
        last = numbers
        return .inEngineOrder(numbers)
    }

    private func keep(_ value: ObservedValue) {
        var numbers = spare.popLast() ?? []
        value.copyScalars(to: &numbers)
        waiting[value.index] = numbers
    }

    func outputs() throws -> [NamedTensor] {
        guard let prepared, let results = try run?.finish() else { return [] }
        let outputs = prepared.named(results)
        for output in outputs {
            guard let found = NonFinite(in: output.data) else { continue }
            throw VerificationError(
                .badReference, path: source, place: "output \(output.name)",
                "\(found.text); what is compared with has to be finite")
        }
        return outputs
    }
}
