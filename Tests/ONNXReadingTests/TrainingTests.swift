import Foundation
import RetintEngine
import RetintGraph
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintONNXReading

/// A network with what PyTorch's backward pass computes.
struct TrainingCase: Decodable, Sendable, CustomStringConvertible {
    let name: String
    let model: Data
    let input: RecordedTensor
    let loss: Float
    let gradients: [String: RecordedTensor]
    /// Running statistics after the batch.
    let statistics: [String: RecordedTensor]

    var description: String { name }

    static let all: [TrainingCase] = recorded("training.json")
}

/// Networks train as PyTorch trains them.
@Suite struct TrainingTests {
    @Test(arguments: TrainingCase.all)
    func agreesWithPyTorch(_ testCase: TrainingCase) throws {
        let folder = try TemporaryFolder()
        try testCase.model.write(to: URL(filePath: folder.path("net.onnx")))
        let model = try ONNXModel(contentsOf: folder.path("net.onnx"))
        let roles = model.roles
        #expect(Set(roles.filter { $1 == .parameter }.keys) == Set(testCase.gradients.keys))
        #expect(Set(roles.filter { $1 == .buffer }.keys) == Set(testCase.statistics.keys))

        let graph = Graph(mode: .training)
        let x = graph.input("x", Shape(testCase.input.shape))
        let output = try model.build(in: graph, inputs: ["x": .tensor(x, .float)])[0].value
        guard case .tensor(let y, _) = output else {
            Issue.record("the output is a constant")
            return
        }
        let loss = (y * y).mean()
        let names = testCase.gradients.keys.sorted()
        let slopes = try gradients(
            of: loss, withRespectTo: names.map { try #require(graph.variable(named: $0)) })
        let program = try Program(
            outputs: [("loss", loss)] + zip(names, slopes).map { (name: $0, value: $1) })
        try program.load(model.variables)
        let results = try program.run(["x": testCase.input.data])

        #expect(abs((results["loss"]?.scalars[0] ?? .nan) - testCase.loss) <= 1e-5 * testCase.loss)
        for (name, gradient) in testCase.gradients {
            try expect(results[name], gradient, "gradient of \(name)")
        }
        for (name, statistic) in testCase.statistics {
            try expect(program.value(of: name), statistic, name)
        }
    }

    /// Errors are compared with the tensor's size: sums of many numbers cancel.
    private func expect(
        _ found: TensorData?, _ recorded: RecordedTensor, _ what: String
    ) throws {
        let found = try #require(found)
        let expected = recorded.values(as: found.shape.dimensions)
        try #require(expected.count == found.shape.count, "\(what)")
        let size = expected.map(abs).max() ?? 0
        let error = zip(found.scalars, expected).map { abs($0 - $1) }.max() ?? 0
        #expect(error <= 1e-4 * size + 1e-6, "\(what): \(error) of \(size)")
    }
}

extension RecordedTensor {
    /// The values as the exporter changes weights: with axes of 1, or transposed. Empty for other
    /// shapes.
    fileprivate func values(as dimensions: [Int]) -> [Float] {
        if dimensions.filter({ $0 != 1 }) == shape.filter({ $0 != 1 }) { return values }
        guard shape.count == 2, dimensions == shape.reversed() else { return [] }
        return (0..<shape[1]).flatMap { column in
            (0..<shape[0]).map { values[$0 * shape[1] + column] }
        }
    }
}
