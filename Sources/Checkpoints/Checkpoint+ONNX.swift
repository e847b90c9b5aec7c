import Colorizers
public import Files
import Layers
import TensorFiles

extension Checkpoint {
    /// Makes a checkpoint of a colorizer in an ONNX file, see
    /// ``NetworkDefinition/importing(onnx:normalization:outputs:)``.
    ///
    /// - Returns: the checkpoint, and what the caller should know, a sentence each.
    /// - Throws: `ONNXError` for a file that is damaged, holds what is not supported, or is no
    ///   colorizer; `FileError` if it cannot be read.
    public static func importing(
        onnx path: some PathConvertible, normalization: LabScaling.Normalization? = nil,
        outputs: [String] = []
    ) throws -> (checkpoint: Checkpoint, notes: [String]) {
        let read = try NetworkDefinition.importing(
            onnx: path, normalization: normalization, outputs: outputs)
        var checkpoint = Checkpoint(.imported(read.definition), state: StateDict())
        for entry in StateSpec(of: try checkpoint.network.make()).entries {
            checkpoint.state[entry.name] = read.weights[entry.name].map { StoredTensor($0) }
        }
        return (checkpoint, read.notes)
    }

    /// Whether a path has the extension of ONNX, whose files have no mark inside.
    public static func isONNX(_ path: some PathConvertible) -> Bool {
        path.filePath.extension?.lowercased() == "onnx"
    }
}
