import RetintTensors
import Testing

@testable import RetintONNXReading

/// Weights that a network uses in another form than its file has them.
@Suite struct WeightFormTests {
    private func form(_ text: String) throws -> WeightForm { try #require(WeightForm(text)) }

    @Test func changesAreUndoneInReverse() throws {
        // [2, 3, 4] was transposed to [4, 2, 3], and then had 6 columns.
        let form = try form("transposed 2 0 1, reshaped 4 2 3")
        let original = TensorData(shape: [2, 3, 4], scalars: (0..<24).map(Float.init))
        let used = (0..<4).flatMap { k in (0..<6).map { Float($0 * 4 + k) } }
        #expect(form.original(of: TensorData(shape: [4, 6], scalars: used)) == original)
        #expect("\(form)" == "transposed 2 0 1, reshaped 4 2 3")
        #expect(form.irreversible == nil)
    }

    @Test(arguments: [
        ("transposed 1 0", [2, 3, 1]), ("transposed 0 0", [2, 3]), ("transposed 2 1", [2, 3]),
        ("reshaped 7", [2, 3]), ("reshaped -6", [2, 3]), ("reshaped -2 -3", [2, 3]),
        ("reshaped 4611686018427387904 4", [2, 3]), ("computed Mul", [2, 3]),
        ("transposed 1 0, computed Mul", [2, 3]),
    ])
    func whatDoesNotFitIsNotUndone(_ text: String, _ shape: [Int]) throws {
        let weight = TensorData(shape: Shape(shape), repeating: 1)
        #expect(try form(text).original(of: weight) == nil)
    }

    @Test func whatCannotBeUndoneIsNamed() throws {
        #expect(try form("transposed 1 0, computed Mul").irreversible == "Mul")
    }

    @Test(arguments: ["moved 1", "transposed a", "computed", "computed Mul Add", "reshaped 1.5"])
    func otherTextsAreRefused(_ text: String) { #expect(WeightForm(text) == nil) }

    @Test func nodesAreRecorded() throws {
        let weight = ONNXTensor(floats: [1, 2, 3, 4, 5, 6], dimensions: [2, 3])
        var form = WeightForm()
        form.add(ONNXNode("Transpose", ["w"], ["t"]), weight, weight.reshaped([3, 2]))
        form.add(ONNXNode("Cast", ["t"], ["c"]), weight, weight)
        form.add(
            ONNXNode("Unsqueeze", ["c"], ["u"]), weight.reshaped([3, 2]),
            weight.reshaped([1, 3, 2]))
        form.add(
            ONNXNode("Transpose", ["u"], ["v"], ["perm": .integers([1, 0, 2])]),
            weight.reshaped([1, 3, 2]), weight.reshaped([3, 1, 2]))
        #expect("\(form)" == "transposed 1 0, reshaped 3 2, transposed 1 0 2")
    }
}
