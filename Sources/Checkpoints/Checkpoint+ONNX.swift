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
        let network = try NetworkDefinition.importing(
            onnx: path, normalization: normalization, outputs: outputs)
        var checkpoint = Checkpoint(
            architecture: ImportedColorizer.architecture, definition: network.definition,
            state: StateDict())
        for entry in StateSpec(of: try checkpoint.makeColorizer()).entries {
            checkpoint.state[entry.name] = network.weights[entry.name].map { StoredTensor($0) }
        }
        return (checkpoint, network.notes)
    }
}
