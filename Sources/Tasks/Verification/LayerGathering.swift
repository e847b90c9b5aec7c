import RetintEngine
import RetintGraph
import RetintRuntime

/// Accumulates the range and the error of each intermediate value over all runs.
struct LayerGathering {
    private let values: [ComputedValue]
    private var ranges: [VerificationReport.ValueRange]
    private var sums: [ErrorSums]
    private let expected: any ExpectedValues
    /// The scalars of the current value.
    private var scratch: [Float] = []

    init(_ program: ModelProgram, expected: any ExpectedValues) {
        values = program.values
        self.expected = expected
        ranges = values.map { _ in VerificationReport.ValueRange() }
        sums = values.map { _ in ErrorSums() }
    }

    /// - Parameter run: the name of the input, for the report.
    mutating func add(_ value: ObservedValue, in run: String) throws {
        ranges[value.index].add(value, in: run)
        switch try expected.scalars(for: value.index) {
        case .inEngineOrder(let scalars)?:
            value.copyScalars(to: &scratch)
            sums[value.index].add(computed: scratch, expected: scalars)
        case .rowMajor(let scalars)?:
            sums[value.index].add(computed: value.data.scalars, expected: scalars)
        case nil: break
        }
    }

    func reports(_ tolerance: LayerTolerance) -> [VerificationReport.Layer] {
        let layers = values.indices.map { index in
            let error = expected.counterpart(of: index).flatMap { counterpart in
                sums[index].count == 0
                    ? nil
                    : VerificationReport.LayerError(
                        sums[index], counterpart, tolerance: tolerance)
            }
            return VerificationReport.Layer(
                value: values[index], range: ranges[index], error: error)
        }
        return layers.withoutNormalizedErrors()
    }
}

/// The scalars that a value is compared with, in the order in which they are stored.
enum ExpectedScalars {
    case inEngineOrder([Float])
    case rowMajor([Float])
}

/// The expected outputs of a model, run after run.
protocol ExpectedOutputs: AnyObject {
    /// The reference's name, for messages.
    var source: String { get }

    /// Whether another model computes them, rather than that they are in a file.
    var isSameNetwork: Bool { get }

    /// Whether lightness goes in, and a and b come out.
    var isColorizer: Bool { get throws }

    /// Prepares the runs; called once, before the first run.
    ///
    /// - Parameter runs: the number of runs.
    func prepare(first: VerificationInputs.Input, runs: Int) throws

    /// Restricts the following runs to the expected values of some of the model's values, so that
    /// others take no memory.
    func keepOnly(_ indices: Set<Int>)

    /// Begins a run.
    func begin(_ inputs: [NamedTensor], at index: Int) throws

    /// The expected outputs of this run; called after all values.
    func outputs() throws -> [NamedTensor]
}

/// The expected outputs and intermediate values of a model, run after run.
protocol ExpectedValues: ExpectedOutputs {
    /// Finds the expected value for each of the model's values; called once, before the first run.
    ///
    /// - Parameter inputs: what both sides are run on.
    func match(_ program: ModelProgram, on inputs: VerificationInputs) throws

    /// What the model's value at an index is compared with; nil if there is nothing.
    func counterpart(of index: Int) -> Counterpart?

    /// The expected scalars of a value in this run; called once for each value.
    func scalars(for index: Int) throws -> ExpectedScalars?
}

/// The expected value of one of a model's values.
struct Counterpart {
    let name: String
    let pairing: VerificationReport.Pairing
    /// The SNR of the value in float32 against float64, in dB; nil if it was not measured.
    var rounding: Double?
}

extension ExpectedOutputs {
    func keepOnly(_ indices: Set<Int>) {}
}
