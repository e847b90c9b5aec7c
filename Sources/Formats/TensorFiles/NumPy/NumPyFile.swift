import RetintFiles
import RetintTensors

/// A NumPy file (`.npy`): one tensor, as written by `numpy.save`.
///
/// Elements are read on demand, in row-major order whatever the order of the file.
package struct NumPyFile: Sendable {
    /// The path of the file.
    package var path: String { file.path.string }
    /// The shape of the tensor.
    package var shape: Shape { header.shape }

    private let file: RegularFile
    private let place: FilePlace
    private let header: NumPyHeader
    private let start: Int
    private let limits: TensorFileLimits

    /// Opens a file for reading.
    ///
    /// - Throws: ``TensorFileError`` if it cannot be read, is damaged, or contains elements that
    ///   are not plain numbers.
    package init(
        _ path: some PathConvertible, limits: TensorFileLimits = .default
    ) throws(TensorFileError) {
        try self.init(RegularFile.open(path), limits)
    }

    /// Opens a file that the description of a folder names; links in the folder are not followed.
    ///
    /// - Parameter name: The path in the folder.
    /// - Throws: ``TensorFileError`` as well if the path leads out of the folder.
    package init(
        _ name: String, beneath folder: some PathConvertible
    ) throws(TensorFileError) {
        try self.init(RegularFile.open(name, beneath: folder), .default)
    }

    private init(_ file: RegularFile, _ limits: TensorFileLimits) throws(TensorFileError) {
        try self.init(file, 0..<file.byteCount, limits, FilePlace(file.path.string))
    }

    /// - Parameter range: the bytes of the file that hold the array.
    init(
        _ file: RegularFile, _ range: Range<Int>, _ limits: TensorFileLimits, _ place: FilePlace
    ) throws(TensorFileError) {
        (self.file, self.limits, self.place) = (file, limits, place)
        (header, start) = try NumPyHeader.read(from: file, range, limits: limits, place)
    }

    /// Reads the tensor.
    ///
    /// - Throws: ``TensorFileError`` if it exceeds the limits or cannot be read.
    package func read() throws(TensorFileError) -> StoredTensor {
        var budget = ReadBudget(limits, for: file)
        return try read(&budget)
    }

    func read(_ budget: inout ReadBudget) throws(TensorFileError) -> StoredTensor {
        let view = StridedView(
            shape: shape, strides: strides, offset: 0, elementBytes: header.type.byteCount)
        try budget.take(shape.count, of: header.type, at: place)
        let decoding = ElementDecoding(type: header.type, isBigEndian: header.isBigEndian)
        let elements = try decoding.read(count: shape.count, at: place) {
            (bytes) throws(TensorFileError) in try view.fill(bytes, from: file, at: start)
        }
        return StoredTensor(shape: shape, elements: elements, storedType: header.type)
    }

    private var strides: [Int] {
        let extents = shape.dimensions
        return extents.indices.map { axis in
            let faster = header.isFortranOrder ? extents[..<axis] : extents[(axis + 1)...]
            // The shape's count fits an Int even without extents of 0.
            return faster.reduce(1) { $0 * max($1, 1) }
        }
    }

    /// Writes a tensor, replacing an existing file. bfloat16, which NumPy does not have, becomes
    /// float32.
    ///
    /// - Throws: ``TensorFileError`` of the kind `unwritable`.
    package static func write(
        _ tensor: StoredTensor, to path: some PathConvertible
    ) throws(TensorFileError) {
        let type = tensor.storedType == .bfloat16 ? .float32 : tensor.storedType
        let file = try PendingFile.start(path)
        try NumPyHeader(type: type, shape: tensor.shape).bytes.withBytes(file.append)
        try ElementEncoding(type: type).withBytes(
            of: tensor.elements, at: FilePlace(path.filePath.string), file.append)
        try file.finish()
    }
}
