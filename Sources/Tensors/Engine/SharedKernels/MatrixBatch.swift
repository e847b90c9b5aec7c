import RetintGraph
import RetintTensors

/// The matrices of a value, its last two axes, as factors of products.
struct MatrixBatch {
    private let buffer: Buffer
    /// Where each matrix begins in the buffer.
    private let offsets: [Int]
    private let rowStep, columnStep: Int

    /// - Parameters:
    ///   - strides: of a value in the buffer, which has step 1 along a row or a column.
    ///   - transposes: whether the matrices are transposed.
    init(_ buffer: Buffer, _ strides: Strides, transposes: Bool) {
        self.buffer = buffer
        let (extents, steps) = (strides.shape.dimensions.dropLast(2), strides.steps.suffix(2))
        var offsets = [strides.offset]
        for (extent, step) in zip(extents, strides.steps) {
            offsets = offsets.flatMap { first in (0..<extent).map { first + $0 * step } }
        }
        self.offsets = offsets
        let (first, last) = (steps.first ?? 1, steps.last ?? 1)
        (rowStep, columnStep) = transposes ? (last, first) : (first, last)
    }

    /// Whether a value's matrices can be factors as they are.
    static func canBe(_ strides: Strides) -> Bool {
        let (rows, columns) = (strides.shape[-2], strides.shape[-1])
        let (row, column) = (strides.steps[strides.steps.count - 2], strides.steps.last ?? 0)
        // A step below the other extent would be that of a value that is repeated.
        return column == 1 && (row >= columns || rows == 1)
            || row == 1 && (column >= rows || columns == 1)
    }

    /// A matrix from some row and column on. One matrix serves all if there is only one.
    func factor(_ index: Int, row: Int = 0, column: Int = 0) -> MatrixFactor {
        let start = buffer.pointer + offsets[offsets.count == 1 ? 0 : index]
        let isRowMajor = columnStep == 1
        return MatrixFactor(
            start + row * rowStep + column * columnStep,
            stride: max(isRowMajor ? rowStep : columnStep, 1), isTransposed: !isRowMajor)
    }
}
