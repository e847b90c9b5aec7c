import Foundation
import TensorFiles
import TensorGraph
import TestSupport

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

func bytes(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path)))
}

func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(filePath: path))
}
