import RetintEngine
import RetintGraph
import RetintTensors
import Testing

/// Runs that are given up between two steps.
@Suite struct CancellationTests {
    private func program() throws -> Program {
        let graph = Graph(mode: .inference)
        let x = graph.input("x", [1, 3, 16, 16])
        let weight = TensorData(
            shape: [3, 3, 3, 3], scalars: (0..<81).map { Float($0 % 7) / 20 - 0.1 })
        var y = x
        for _ in 0..<6 {
            y = conv2d(y, weight: graph.constant(weight), padding: 1)
            y = y.mean(axes: [2], keepDims: true) + y
        }
        return try Program(outputs: [("y", y)])
    }

    private let inputs = [
        "x": TensorData(shape: [1, 3, 16, 16], scalars: (0..<768).map { Float($0 % 31) / 31 })
    ]

    @Test func aRunEndsBetweenTwoSteps() throws {
        let program = try program()
        var asked = 0
        _ = try program.run(inputs) {
            asked += 1
            return false
        }
        try #require(asked > 4)
        for limit in [0, 1, asked / 2, asked - 1] {
            var count = 0
            #expect(throws: CancellationError.self) {
                try program.run(inputs) {
                    count += 1
                    return count > limit
                }
            }
            // It is not asked again.
            #expect(count == limit + 1)
        }
    }

    @Test func theProgramCanBeRunAgain() throws {
        let program = try program()
        let expected = try program.run(inputs)
        var count = 0
        _ = try? program.run(inputs) {
            count += 1
            return count == 4
        }
        #expect(try program.run(inputs) == expected)
    }
}
