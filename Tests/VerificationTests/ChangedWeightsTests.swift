import RetintCheckpoints
import RetintExport
import RetintRuntime
import RetintTensorFiles
import RetintVerification
import Testing

@Suite struct ChangedWeightsTests {
    private static let name = "stage8.1.expand.0.weight"

    /// What is changed in a weight of shape [outputs, inputs, 1, 1], or in another one.
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var weight = name
        /// How many elements are reported; nil if nothing is.
        let changed: Int?
        /// Changes the values, given the number of elements of a row.
        let plant: @Sendable (inout [Float], Int) -> Void
    }

    static let faults = [
        Fault(testDescription: "nothing", changed: nil) { _, _ in },
        Fault(testDescription: "an element off by a thousandth", changed: 1) { values, row in
            values[row + 1] += values.map(abs).max()! / 1000
        },
        Fault(testDescription: "rounding", changed: nil) { values, _ in
            for index in values.indices { values[index] *= index % 2 == 0 ? 1 + 0x1p-21 : 1 }
        },
        Fault(testDescription: "two rows exchanged", changed: 2) { values, row in
            for index in 0..<row { values.swapAt(index, 3 * row + index) }
        },
        Fault(testDescription: "two columns exchanged", changed: 3) { values, row in
            for start in stride(from: 0, to: values.count, by: row) {
                values.swapAt(start, start + 5)
            }
        },
        Fault(testDescription: "half of the rows exchanged", changed: nil) { values, row in
            for index in 0..<values.count / 4 {
                values.swapAt(index, values.count / 4 + index)
            }
        },
        Fault(
            testDescription: "a smaller kernel added", weight: "stage4.1.depthwise.0.weight",
            changed: nil
        ) { values, _ in
            for kernel in stride(from: 0, to: values.count, by: 9) { values[kernel + 4] += 0.5 }
        },
        Fault(testDescription: "an identity added", changed: nil) { values, row in
            for index in 0..<min(values.count / row, row) { values[index * (row + 1)] += 1 }
        },
        Fault(testDescription: "an input channel scaled", changed: nil) { values, row in
            for start in stride(from: 0, to: values.count, by: row) { values[start + 2] *= 3 }
        },
        Fault(testDescription: "a row of its own", changed: nil) { values, row in
            for index in 0..<row { values[row + index] += Float(index) }
        },
        Fault(testDescription: "the first rows exchanged", changed: 2) { values, row in
            for index in 0..<row { values.swapAt(index, row + index) }
        },
        Fault(testDescription: "an element of the first row", changed: 1) { values, row in
            values[1] += values.map(abs).max()! / 1000
        },
        Fault(testDescription: "other values", changed: nil) { values, _ in values.reverse() },
        Fault(
            testDescription: "kernels transposed", weight: "stage4.1.depthwise.0.weight",
            changed: -1
        ) { values, _ in
            for kernel in stride(from: 0, to: values.count, by: 9) {
                for (a, b) in [(1, 3), (2, 6), (5, 7)] { values.swapAt(kernel + a, kernel + b) }
            }
        },
    ]

    /// The number of reported elements is that of rows or columns for exchanged ones, −1 for all.
    @Test(arguments: faults, [false, true])
    func areFound(_ fault: Fault, isExported: Bool) throws {
        let fixture = try Fixture()
        var checkpoint = fixture.checkpoint
        let weight = try #require(checkpoint.state[fault.weight])
        var values = try #require(weight.floats)
        let row = values.count / weight.shape[0]
        fault.plant(&values, row)
        checkpoint.state[fault.weight] = StoredTensor(shape: weight.shape, floats: values)
        // An export folds batch normalizations into the weights: each row has a factor.
        let model =
            try isExported
            ? Model(checkpoint.package(ExportOptions(precision: .float32, size: 64)))
            : Model(checkpoint)
        let report = try model.verify(against: fixture.model(), on: fixture.samples(1))
        guard let changed = fault.changed else {
            #expect(report.changedWeights.isEmpty)
            return
        }
        #expect(report.changedWeights.count == 1 && !report.passed)
        // Saved results are judged by the same bounds, or by others that ask for less.
        #expect(report.judged(by: report.bounds).changedWeights == report.changedWeights)
        var loose = report.bounds
        loose.layersDecide = false
        #expect(report.judged(by: loose).changedWeights.isEmpty)
        let found = try #require(report.changedWeights.first)
        let expected = [-1: values.count, 1: 1, 2: 2 * row, 3: 2 * weight.shape[0]][changed]
        #expect(found.changed == expected && found.count == values.count)
        #expect(found.isTransposed == (changed == -1) && found.reference == fault.weight)
        #expect(report.checks.contains { $0.subject == found.layer && $0.failure != nil })
        #expect(
            report.layers.contains {
                $0.value.name == found.layer && $0.value.operation.contains("conv")
            })
        guard changed == 1, let floats = weight.floats else { return }
        let place = try #require(zip(floats, values).enumerated().first { $1.0 != $1.1 }).offset
        let largest = floats[place / row * row..<(place / row + 1) * row].map(abs).max() ?? 0
        let error = Double((floats.map(abs).max() ?? 0) / 1000 / largest)
        #expect(abs(found.relativeError - error) < 0.01 * error)
    }
}
