import Foundation
import RetintFloat64
import RetintGraph
import RetintOperationCases
import RetintTestSupport
import Testing

/// Values and gradients recorded from PyTorch by `Goldens/record_operations.py`.
enum Golden {
    static let operations = Result { () throws -> [String: [Digest]] in
        try decodeGolden("operations.json")
    }

    /// The output's digest, then the gradients'.
    static func digests(of testCase: OperationCase) throws -> [Digest] {
        try #require(operations.get()[testCase.name], "record_operations.py has no such case")
    }
}

/// What is kept of a tensor: its element count, its projection on a fixed pseudorandom direction,
/// its sum of squares, and at most 16 evenly spread elements.
struct Digest: Decodable {
    let count: Int
    let projection: Double
    let squares: Double
    let samples: [Double]

    init(from decoder: any Decoder) throws {
        let numbers = try decoder.singleValueContainer().decode([Double].self)
        count = Int(numbers[0])
        (projection, squares, samples) = (numbers[1], numbers[2], Array(numbers[3...]))
    }

    init(_ values: [Double]) {
        count = values.count
        squares = values.reduce(0) { $0 + $1 * $1 }
        let direction = CaseValues.draw(.signed, count, 42)
        projection = zip(values, direction).reduce(0) { $0 + $1.0 * Double($1.1) }
        let kept = Swift.min(count, 16)
        samples = (0..<kept).map { values[$0 * values.count / kept] }
    }

    /// Whether all numbers agree within `tolerance` of the tensor's size.
    func expect(_ other: Digest, _ what: String, within tolerance: Double) {
        #expect(other.count == count, "\(what): \(count) elements recorded, \(other.count) found")
        #expect(other.samples.count == samples.count)
        let norm = squares.squareRoot()
        let typical = norm / Double(count).squareRoot()
        #expect(
            (other.projection - projection).magnitude <= tolerance * (norm + 1e-12),
            "\(what): projection \(projection) recorded, \(other.projection) found")
        #expect((other.squares - squares).magnitude <= 2 * tolerance * (squares + 1e-12))
        for (place, (mine, found)) in zip(samples, other.samples).enumerated() {
            let bound = tolerance * Swift.max(mine.magnitude, typical, 1e-12)
            #expect(
                (mine - found).magnitude <= bound, "\(what), sample \(place): \(mine), \(found)")
        }
    }
}

/// The double-precision reference, and through it the engine, against PyTorch.
@Suite struct TorchColumn {
    @Test(arguments: OperationTable.recorded)
    func referenceAgrees(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let values = try Float64Evaluator(inputs: graph.doubleFeeds)
            .evaluate([graph.output] + graph.gradients)
        let digests = try Golden.digests(of: testCase)
        try #require(digests.count == values.count)
        for (index, (digest, value)) in zip(digests, values).enumerated() {
            let what = index == 0 ? "output" : "gradient \(index - 1)"
            digest.expect(Digest(value.values), what, within: 1e-5)
        }
    }

    @Test func tableAndRecordingNameTheSameCases() throws {
        let recorded = Set(try Golden.operations.get().keys)
        let table = OperationTable.recorded.map(\.name)
        #expect(recorded == Set(table))
        #expect(Set(OperationTable.cases.map(\.name)).count == OperationTable.cases.count)
    }
}
