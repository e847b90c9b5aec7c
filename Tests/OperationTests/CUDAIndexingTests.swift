import RetintCompiler
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintCUDA
@testable import RetintEngine
@testable import RetintGraph

/// Elements at computed positions: kernels on a GPU give what the CPU gives, bit for bit.
@Suite struct CUDAIndexingTests {
    /// A shape, an axis of it, and the shape of the indices.
    struct Case: CustomTestStringConvertible {
        let shape: Shape
        let axis: Int
        let indices: Shape
        var testDescription: String { "\(indices) along \(axis) of \(shape)" }
    }

    static let cases = [
        Case(shape: [7], axis: 0, indices: [20]),
        Case(shape: [1], axis: 0, indices: [3]),
        Case(shape: [5, 3], axis: 0, indices: [4, 2]),
        Case(shape: [5, 3], axis: 1, indices: [5, 9]),
        Case(shape: [1, 4, 6], axis: 1, indices: [1, 2, 5]),
        Case(shape: [2, 3, 4, 5], axis: 0, indices: [6, 3, 2, 5]),
        Case(shape: [2, 3, 4, 5], axis: 1, indices: [2, 7, 4, 4]),
        Case(shape: [2, 3, 4, 5], axis: 2, indices: [1, 2, 9, 3]),
        Case(shape: [2, 3, 4, 5], axis: 3, indices: [2, 3, 4, 1]),
        Case(shape: [2, 1, 3, 2, 4], axis: 2, indices: [1, 1, 8, 2, 3]),
    ]

    private func expectEqual(
        _ outputs: [(name: String, value: Tensor)], _ inputs: [String: TensorData]
    ) throws {
        MockCUDA.install()
        func values(_ device: Execution.Device) throws -> [String: TensorData] {
            try Program(outputs: outputs, options: Execution(device: device).compileOptions)
                .run(inputs)
        }
        let (found, expected) = (try values(.cuda()), try values(.cpu))
        for (name, _) in outputs {
            #expect(found[name]?.scalars.contains { $0 != 0 } == true)
            #expect(found[name] == expected[name], "\(name)")
        }
    }

    @Test(arguments: cases) func gathersAndScatters(_ testCase: Case) throws {
        let (shape, axis) = (testCase.shape, testCase.axis)
        var random = RandomStream(seed: 5, name: testCase.testDescription)
        func data(_ shape: Shape, _ value: () -> Float) -> TensorData {
            TensorData(shape: shape, scalars: (0..<shape.count).map { _ in value() })
        }
        let size = shape[axis]
        let indices = data(testCase.indices) { Float(Int(random.next() % UInt64(2 * size)) - size) }
        let graph = Graph()
        let places = graph.input("places", testCase.indices)
        let updates = graph.input("updates", testCase.indices)
        let x = graph.input("x", shape)
        try expectEqual(
            [
                ("gathered", gather(x, axis: axis, indices: places)),
                ("added", scatterAdd(x, axis: axis, indices: places, updates)),
                ("replaced", scatter(x, axis: axis, indices: places, updates)),
            ],
            [
                "places": indices, "x": data(shape) { Float(random.uniform()) + 0.1 },
                "updates": data(testCase.indices) { Float(random.normal()) },
            ])
    }

    private func kernel(
        _ operation: some IndexingOperation, _ shapes: [Shape]
    ) throws -> DeviceKernel? {
        func buffer(_ shape: Shape) -> Buffer {
            Buffer(shape: shape, storage: Storage(kind: .owned, count: shape.count))
        }
        return operation.deviceKernel(
            inputs: shapes.map(buffer), output: buffer(try operation.outputShape(for: shapes)),
            fault: buffer([2]))
    }

    /// Where one thread on the CPU does far less, it does it.
    @Test func workDecidesWhoComputes() throws {
        let table = ScatterElements(axis: 0, shape: [1 << 16, 1 << 10])
        #expect(try kernel(table, [[64, 1 << 10], [64, 1 << 10]]) != nil)
        #expect(try kernel(table, [[65, 1 << 10], [65, 1 << 10]]) == nil)
        #expect(try kernel(TopIndices(axis: 0, count: 512), [[512]]) != nil)
        #expect(try kernel(TopIndices(axis: 0, count: 512), [[513]]) == nil)
    }

    /// Places beyond 2³¹ elements.
    @Test func largeValuesHaveWideIndices() throws {
        let shapes: [Shape] = [[1 << 23, 512], [4, 512]]
        let gathering = try kernel(GatherElements(axis: 0), shapes)
        #expect(gathering?.source.text.contains("const long long place") == true)
        let ranking = try kernel(TopIndices(axis: 1, count: 1), [[1 << 23, 512]])
        #expect(ranking?.source.text.contains("for (long long k") == true)
        let small = try kernel(GatherElements(axis: 0), [[1 << 10, 512], [4, 512]])
        #expect(small?.source.text.contains("long long") == false)
    }

    /// The first of equal elements, NaN before all, and infinities.
    @Test(arguments: cases) func ranks(_ testCase: Case) throws {
        var random = RandomStream(seed: 6, name: testCase.testDescription)
        let values: [Float] = [3, 1, .nan, -.infinity, .infinity, 0, -2, 3]
        let shape = testCase.shape
        let graph = Graph()
        let x = graph.input("x", shape)
        let counts = 1...shape[testCase.axis]
        try expectEqual(
            counts.map { ("top \($0)", topIndices(x, $0, axis: testCase.axis) + 1) },
            [
                "x": TensorData(
                    shape: shape,
                    scalars: (0..<shape.count).map { _ in values[Int(random.next() % 8)] })
            ])
    }
}
