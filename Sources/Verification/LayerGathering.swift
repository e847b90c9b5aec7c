import Engine
import TensorGraph

/// Follows a model's runs: how large each value gets, and how far off it is.
struct LayerGathering {
    private let values: [ComputedValue]
    private var ranges: [ValueRange]
    private var sums: [ErrorSums]
    private let expected: any ExpectedValues
    /// The numbers of the value at hand.
    private var scratch: [Float] = []

    init(_ model: PreparedModel, expected: any ExpectedValues) {
        values = model.values
        self.expected = expected
        ranges = values.map { _ in ValueRange() }
        sums = values.map { _ in ErrorSums() }
    }

    /// - Parameter run: what is being colored.
    mutating func add(_ value: ObservedValue, in run: String) throws {
        ranges[value.index].add(value, in: run)
        switch try expected.numbers(for: value.index) {
        case .inEngineOrder(let numbers)?:
            value.copyScalars(to: &scratch)
            sums[value.index].add(computed: scratch, expected: numbers)
        case .rowMajor(let numbers)?:
            sums[value.index].add(computed: value.data.scalars, expected: numbers)
        case nil: break
        }
    }

    func reports(_ tolerance: LayerTolerance) -> [LayerReport] {
        values.indices.map { place in
            let error = expected.name(for: place).flatMap { name in
                sums[place].count == 0
                    ? nil : LayerError(sums[place], expected: name, tolerance: tolerance)
            }
            return LayerReport(value: values[place], range: ranges[place], error: error)
        }
    }
}

/// Numbers that a value is compared with.
enum ExpectedNumbers {
    case inEngineOrder([Float])
    case rowMajor([Float])
}

/// What is expected of a model, one run after another.
protocol ExpectedValues: AnyObject {
    /// Who expects it, for messages.
    var source: String { get }

    /// Finds what the model's values are compared with; called once, before the first run.
    ///
    /// - Parameter runs: how many there will be.
    func match(_ model: PreparedModel, first: Sample, runs: Int) throws

    /// Goes on to a run.
    func begin(_ sample: Sample, at index: Int) throws

    /// What a value of the model is compared with; nil if with nothing.
    func name(for place: Int) -> String?

    /// The numbers expected of a value in this run; each value is asked for once a run.
    func numbers(for place: Int) throws -> ExpectedNumbers?

    /// The outputs expected of this run, called once all values were asked for.
    func outputs() throws -> [NamedTensor]
}
