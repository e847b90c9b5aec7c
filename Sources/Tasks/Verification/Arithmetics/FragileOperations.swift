import Glibc
import RetintFloat64
import RetintGraph
import RetintRuntime

/// Finds the operations that lose digits, and what each of them alone does to the outputs.
struct FragileOperations {
    typealias Fragile = VerificationReport.ArithmeticSurvey.FragileOperation

    private let evaluation: ArithmeticEvaluation
    private let gathering: ArithmeticGathering
    private let inputs: [NamedTensor]

    /// A loss that counts: results have half the digits' exactness, as after one more bit.
    private static let leastLoss = log10(2.0)
    /// The operations that are tried by themselves, and the arithmetics for each.
    private static let (mostTried, arithmeticsTried) = (12, 3)

    init(
        _ evaluation: ArithmeticEvaluation, _ gathering: ArithmeticGathering,
        inputs: [NamedTensor]
    ) {
        (self.evaluation, self.gathering, self.inputs) = (evaluation, gathering, inputs)
    }

    /// The operations with the largest losses, the one with the largest effect first.
    func ranked(onRun: (_ done: Int, _ all: Int) -> Void) throws -> [Fragile] {
        let candidates = candidates
        guard !candidates.isEmpty else { return [] }
        var tries = 0
        let fragile = try candidates.map { candidate in
            let worst = worstArithmetics(candidate.value)
            let effect = try effect(of: candidate.value, in: worst)
            tries += worst.count
            onRun(tries, candidates.count * Self.arithmeticsTried)
            return candidate.operation(evaluation.graph.values[candidate.value], effect)
        }
        return fragile.sorted {
            ($0.outputDigits, -$0.lostDigits) < ($1.outputDigits, -$1.lostDigits)
        }
    }

    private struct Candidate {
        let value: Int
        let operands: Double
        let digits: Double

        var loss: Double { operands - digits }

        func operation(_ value: TracedValue, _ outputDigits: Double) -> Fragile {
            Fragile(
                name: value.description.name, operation: value.description.operation,
                operandDigits: operands, digits: digits, outputDigits: outputDigits)
        }
    }

    private var candidates: [Candidate] {
        let all = evaluation.graph.values.indices.compactMap(candidate)
        let losing = all.filter { $0.loss >= Self.leastLoss }
        return Array(losing.sorted { $0.loss > $1.loss }.prefix(Self.mostTried))
    }

    private func candidate(_ index: Int) -> Candidate? {
        let values = evaluation.graph.values
        guard let own = digits(index) else { return nil }
        let operands = values[index].description.inputs.compactMap(digits)
        let format = evaluation.formats.isHalf(values[index].tensor.id) ? 11.0 : 24
        return Candidate(
            value: index, operands: min(operands.min() ?? .infinity, format * log10(2)),
            digits: own)
    }

    private func digits(_ index: Int) -> Double? {
        gathering.digits[evaluation.graph.values[index].tensor.id]?.fewest
    }

    /// The arithmetics in which a value has the fewest digits.
    private func worstArithmetics(_ value: Int) -> [DeviceArithmetic] {
        guard let digits = gathering.digits[evaluation.graph.values[value].tensor.id] else {
            return []
        }
        let order = gathering.arithmetics.indices.sorted {
            (digits.digits(ofRun: $0), $0) < (digits.digits(ofRun: $1), $1)
        }
        return order.prefix(Self.arithmeticsTried).map { gathering.arithmetics[$0] }
    }

    /// The digits of the outputs, at worst, with one operation in these arithmetics.
    private func effect(of value: Int, in arithmetics: [DeviceArithmetic]) throws -> Double {
        let outputs = Set(evaluation.graph.outputs.map(\.value.id))
        var exact = try evaluation.exact(inputs)
        var runs = try arithmetics.map { try evaluation.run(inputs, onlyOf: value, in: $0) }
        var fewest = SignificantDigits.most
        while let (id, reference) = try verifying({ try exact.next() }) {
            let values = try runs.indices.compactMap { run in
                try verifying { try runs[run].next()?.value.values }
            }
            guard outputs.contains(id) else { continue }
            var digits = SignificantDigits(runs: values.count)
            digits.add(values, first: 0, reference: reference.values)
            for run in values.indices { fewest = min(fewest, digits.digits(ofRun: run)) }
        }
        return fewest
    }
}
