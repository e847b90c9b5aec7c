import RetintDistributed
import RetintEngine
import RetintGraph
import RetintTensors
import RetintTestSupport
import Testing

/// Batch normalization over the examples of several ranks, which are threads here.
struct SynchronizedBatchNormTests {
    private static let batch = 5
    private static let rest: Shape = [3, 4, 6]
    private static let names = ["loss", "dx", "dw", "db", "moments"]

    private static func values(_ shape: Shape, seed: Int, _ examples: Range<Int>) -> TensorData {
        let each = shape.count / shape[0]
        let scalars = (examples.lowerBound * each..<examples.upperBound * each).map {
            Float((($0 + seed) * 7919) % 1013) / 1013 - 0.3
        }
        return TensorData(
            shape: Shape([examples.count] + shape.dimensions.dropFirst()), scalars: scalars)
    }

    private static func options(_ ranks: Communicator) -> CompileOptions {
        var options = CompileOptions(threads: 1)
        options.communicator = ranks
        return options
    }

    /// Normalizes examples, and differentiates a weighted sum of the results.
    private static func run(_ ranks: Communicator) throws -> [String: TensorData] {
        let shares = BatchShares(of: batch, over: ranks)
        let (graph, channels) = (Graph(mode: .training), rest[0])
        if ranks.size > 1 { graph.batchNormShares = shares }
        let shape = Shape([shares.own.count] + rest.dimensions)
        let x = graph.input("x", shape)
        let (weight, bias) = (graph.input("w", [channels]), graph.input("b", [channels]))
        let (y, moments) = batchNormTraining(x, weight: weight, bias: bias)
        let loss = (y * y * graph.input("factors", shape)).sum()
        let gradients = try gradients(of: loss, withRespectTo: [x, weight, bias])
        let program = try Program(
            outputs: Array(zip(names, [loss] + gradients + [moments])).map { ($0, $1) },
            options: options(ranks))
        let whole = Shape([batch] + rest.dimensions)
        return try program.run([
            "x": values(whole, seed: 1, shares.own), "factors": values(whole, seed: 2, shares.own),
            "w": TensorData(shape: [channels], scalars: [1, 0.5, 2]),
            "b": TensorData(shape: [channels], scalars: [0.1, 0, -0.2]),
        ])
    }

    @Test(arguments: [2, 3, 5]) func gradientsAreThoseOfOneProcess(size: Int) throws {
        let expected = try Self.run(.single)
        let parts = try onRanks(size) { try Self.run($0) }
        func scalars(_ name: String, of part: [String: TensorData]) -> [Float] {
            part[name]?.scalars ?? []
        }
        func expect(_ found: [Float], _ name: String) {
            let wanted = scalars(name, of: expected)
            #expect(found.count == wanted.count)
            for (value, other) in zip(found, wanted) {
                #expect(abs(value - other) <= 1e-5 * max(1, abs(other)), "\(name)")
            }
        }
        func sum(_ name: String) -> [Float] {
            parts.map { scalars(name, of: $0) }.reduce(scalars(name, of: expected).map { _ in 0 }) {
                zip($0, $1).map { $0 + $1 }
            }
        }
        expect(parts.flatMap { scalars("dx", of: $0) }, "dx")
        for name in ["loss", "dw", "db"] { expect(sum(name), name) }
        for part in parts {
            expect(scalars("moments", of: part), "moments")
            let bits = { (part: [String: TensorData]) in
                scalars("moments", of: part).map(\.bitPattern)
            }
            #expect(bits(part) == bits(parts[0]), "the same on all ranks")
        }
    }

    /// Two buckets that start before either is waited for, and tensors in the engine's own order.
    @Test(arguments: [1, 2, 3]) func bucketsGiveTheSums(size: Int) throws {
        let shapes: [Shape] = [[2, 3, 4, 5], [7], [], [3, 2]]
        let results = try onRanks(size) { ranks in
            let graph = Graph()
            let inputs = shapes.enumerated().map { graph.input("\($0)", $1) * 2 }
            let buckets = [
                Bucket(Array(inputs[..<2]), over: size, channel: 0),
                Bucket(Array(inputs[2...]), over: size, channel: 1),
            ]
            let sums = buckets.flatMap(\.sums).enumerated().map { ("\($0)", $1 + 1) }
            let program = try Program(outputs: sums, options: Self.options(ranks))
            #expect(
                program.messages.map { $0.prefix(13) } == [
                    "all_reduce_st", "all_reduce_st", "all_reduce_fi", "all_reduce_fi",
                ])
            var results: [String: TensorData] = [:]
            for _ in 0..<2 {
                results = try program.run(
                    Dictionary(
                        uniqueKeysWithValues: shapes.enumerated().map { index, shape in
                            let scalars = (0..<shape.count).map { Float($0 + ranks.rank + 1) }
                            return ("\(index)", TensorData(shape: shape, scalars: scalars))
                        }))
            }
            return results
        }
        for (index, shape) in shapes.enumerated() {
            // Twice the sum over ranks of element + rank + 1, and 1.
            let ranks = size * (size + 1)
            let wanted = (0..<shape.count).map { Float(1 + 2 * size * $0 + ranks) }
            for result in results {
                #expect(result["\(index)"] == TensorData(shape: shape, scalars: wanted))
            }
        }
    }

    /// Else it would give this rank's values as if they were all ranks' sums.
    @Test func aProgramForAnotherNumberOfRanksIsRefused() throws {
        let graph = Graph()
        let sums = Bucket([graph.input("x", [3])], over: 2, channel: 0).sums
        let error = #expect(throws: GraphError.self) {
            try Program(outputs: [("sum", sums[0])])
        }
        #expect(error?.operation == AllReduceStart.name)
        #expect(error?.reason.contains("is of 2 ranks") == true)
    }
}
