import RetintCompiler
import RetintGraph
import RetintTensors

/// The matrices of a value, its last two axes, as factors of products.
struct MatrixBatch {
    private let buffer: Buffer
    /// Where each matrix begins in the buffer.
    private let offsets: [Int]
    private let rows, columns, rowStep, columnStep: Int

    /// - Parameters:
    ///   - strides: of a value in the buffer, which has step 1 along a row or a column.
    ///   - transposes: whether the matrices are transposed.
    init(_ buffer: Buffer, _ strides: Strides, transposes: Bool) {
        self.buffer = buffer
        let (shape, rank) = (strides.shape, strides.shape.rank)
        var offsets = [strides.offset]
        for (extent, step) in zip(shape.dimensions.dropLast(2), strides.steps) {
            offsets = offsets.flatMap { first in (0..<extent).map { first + $0 * step } }
        }
        self.offsets = offsets
        let (row, column) = transposes ? (rank - 1, rank - 2) : (rank - 2, rank - 1)
        (rows, columns) = (shape[row], shape[column])
        (rowStep, columnStep) = (strides.steps[row], strides.steps[column])
    }

    /// Whether a value's matrices can be factors as they are.
    static func canBe(_ strides: Strides) -> Bool {
        guard strides.shape.rank >= 2 else { return false }
        let (rows, columns) = (strides.shape[-2], strides.shape[-1])
        let (row, column) = (strides.steps[strides.steps.count - 2], strides.steps.last ?? 0)
        // A step below the other extent would be that of a value that is repeated.
        return column == 1 && (row >= columns || rows == 1)
            || row == 1 && (column >= rows || columns == 1)
    }

    /// A matrix from some row and column on. One matrix serves all if there is only one.
    func factor(_ index: Int, row: Int = 0, column: Int = 0) -> MatrixFactor {
        let start = buffer.pointer + offsets[offsets.count == 1 ? 0 : index]
        // OpenBLAS refuses strides below the length of a row, even of the only one.
        let isRowMajor = columnStep == 1
        return MatrixFactor(
            start + row * rowStep + column * columnStep,
            stride: isRowMajor ? max(rowStep, columns) : max(columnStep, rows),
            isTransposed: !isRowMajor)
    }
}

/// An operation on matrices, which reads views without moving their elements.
protocol MatrixOperation: CPUOperation {
    func applied(to graph: Graph, _ operands: [StridedValue]) -> Tensor
}

extension MovementComposition {
    /// The pass for the CPU, whose products read views.
    static let forCPU = MovementComposition { graph, operation, operands in
        (operation as? any MatrixOperation)?.applied(to: graph, operands.map(\.asMatrices))
    }
}

extension StridedValue {
    /// This view if its matrices can be factors of products; otherwise the value in its own memory.
    fileprivate var asMatrices: Self {
        MatrixBatch.canBe(strides)
            ? self : Self(source: value, strides: Strides(strides.shape))
    }
}
