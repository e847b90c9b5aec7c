import RetintCompiler
import RetintTensors
import Testing

@testable import RetintEngine

/// Products of matrices by the engine and by OpenBLAS.
@Suite struct MatrixKernelsTests {
    struct Product: CustomTestStringConvertible, Sendable {
        let rows, columns, depth: Int

        var testDescription: String { "\(rows) × \(columns), depth \(depth)" }
    }

    private static func noise(_ count: Int, _ seed: Int) -> [Float] {
        (0..<count).map { Float(($0 * 7919 + seed * 104_729) % 1009) / 1009 - 0.5 }
    }

    /// One product, of matrices whose rows are longer than what is multiplied.
    private func product(
        _ kernels: MatrixKernels, _ size: Product, _ transposeA: Bool, _ transposeB: Bool,
        isAdded: Bool
    ) -> [Float] {
        let (m, n, k) = (size.rows, size.columns, size.depth)
        let (lda, ldb, ldc) = ((transposeA ? m : k) + 3, (transposeB ? k : n) + 5, n + 2)
        let a = Self.noise(lda * max(m, k), 1)
        let b = Self.noise(ldb * max(n, k), 2)
        var c = Self.noise(ldc * m, 3)
        a.withUnsafeBufferPointer { a in
            b.withUnsafeBufferPointer { b in
                c.withUnsafeMutableBufferPointer { c in
                    kernels.multiply(
                        MatrixFactor(a.baseAddress!, stride: lda, isTransposed: transposeA),
                        MatrixFactor(b.baseAddress!, stride: ldb, isTransposed: transposeB),
                        ProductSize(rows: m, columns: n, depth: k),
                        to: MatrixProduct(c.baseAddress!, stride: ldc, isAdded: isAdded))
                }
            }
        }
        return c
    }

    @Test(arguments: [
        Product(rows: 1, columns: 1, depth: 1), Product(rows: 5, columns: 16, depth: 7),
        Product(rows: 13, columns: 17, depth: 300), Product(rows: 50, columns: 31, depth: 16),
        Product(rows: 12, columns: 96, depth: 513), Product(rows: 1540, columns: 45, depth: 20),
    ])
    func bothAgree(_ size: Product) {
        for index in 0..<8 {
            let (a, b) = (index & 2 != 0, index & 4 != 0)
            let isAdded = index & 1 != 0
            let found = product(.engine, size, a, b, isAdded: isAdded)
            let expected = product(.openBLAS, size, a, b, isAdded: isAdded)
            let error = zip(found, expected).map { abs($0 - $1) }.max() ?? 0
            #expect(error <= 1e-6 * Float(size.depth + 1), "\(a) \(b) \(isAdded)")
        }
    }

    @Test func theWiderVectorsAreChosen() {
        typealias Kernels = MatrixKernels
        for (core, floats, expected) in [
            ("Prescott", 16, Kernels.engine), ("Haswell", 16, .engine), ("SkylakeX", 16, .openBLAS),
            ("Prescott", 8, .engine), ("Zen", 8, .openBLAS), ("SkylakeX", 8, .openBLAS),
            ("Prescott", 4, .openBLAS), ("neoversen1", 4, .openBLAS),
        ] {
            #expect(Kernels.fastest(blasCore: core, vectorFloats: floats) == expected, "\(core)")
        }
    }

    /// OpenBLAS refuses a stride below the length of a row, even of a matrix of one row.
    @Test(arguments: [[1, 8], [8, 1], [1, 1], [3, 8]], [false, true])
    func stridesCoverRows(_ extents: [Int], transposes: Bool) throws {
        let shape = Shape(extents)
        let buffer = Buffer(shape: shape, storage: Storage(kind: .owned, count: shape.count))
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: shape.count)
        defer { memory.deallocate() }
        buffer.storage.bind(to: UInt(bitPattern: memory))
        var views = [Strides(shape)]
        if extents[0] == 1 { views.append(try #require(Strides([8]).reshaped([1, 8]))) }
        for view in views where view.shape == shape {
            let factor = MatrixBatch(buffer, view, transposes: transposes).factor(0)
            let (rows, columns) =
                transposes ? (shape[1], shape[0]) : (shape[0], shape[1])
            #expect(factor.stride >= (factor.isTransposed ? rows : columns))
        }
    }
}
