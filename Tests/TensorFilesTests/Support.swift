import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

/// The files that `Goldens/make_goldens.py`, `record_safetensors.py` and `record_pytorch.py` wrote.
func golden(_ name: String, _ format: TensorFileFormat = .hdf5) -> String {
    goldenPath("\(name).\(format.extensions[0])")
}

/// What the goldens hold: (index - 3) / 4 in row-major order.
func ramp(_ count: Int) -> [Float] {
    (0..<count).map { (Float($0) - 3) / 4 }
}

/// The error of `body`; nil if it throws none.
func failure(of body: () throws -> Void) -> TensorFileError? {
    do { try body() } catch { return error as? TensorFileError }
    return nil
}

/// Reads whatever can be read; it has the shape that the file says.
func readAll(_ reader: any TensorReader) throws {
    for name in try reader.tensorNames() where (try? reader.storedType(of: name)) != nil {
        let tensor = try reader.read(name, expecting: nil)
        #expect(tensor.shape.count == tensor.elements.count)
    }
}

/// Every file that breaks off earlier is refused, by its path.
func expectTruncationsRefused(
    of file: String, _ format: TensorFileFormat, _ read: (String) throws -> Void
) throws {
    let scratch = try TemporaryFolder()
    let whole = try bytes(of: golden(file, format))
    let path = scratch.path("damaged.\(format.extensions[0])")
    for count in whole.indices {
        try write(Array(whole.prefix(count)), to: path)
        let error = try #require(failure { try read(path) }, "\(count) bytes")
        #expect(error.file == path)
    }
}

func bytes(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path)))
}

func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(filePath: path))
}
