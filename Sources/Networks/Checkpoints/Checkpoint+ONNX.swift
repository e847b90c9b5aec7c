import RetintArchitectures
public import RetintFiles
import RetintLayers
import RetintTensorFiles

extension Checkpoint {
    /// Creates a checkpoint from a colorizer in an ONNX file, see
    /// `NetworkDefinition.importing(onnx:form:outputs:)`.
    ///
    /// - Returns: the checkpoint, and notes for the caller, one sentence each.
    /// - Throws: `ONNXError` for a file that is damaged, contains something unsupported, or is not
    ///   a colorizer; `FileError` if it cannot be read.
    public static func importing(
        onnx path: some PathConvertible, form: ColorFormChoice = .init(), outputs: [String] = []
    ) throws -> (checkpoint: Checkpoint, notes: [String]) {
        let read = try NetworkDefinition.importing(
            onnx: path, form: form, outputs: outputs)
        var checkpoint = Checkpoint(.imported(read.definition), state: StateDict())
        for entry in StateSpec(of: try checkpoint.network.make()).entries {
            checkpoint.state[entry.name] = read.weights[entry.name].map { StoredTensor($0) }
        }
        return (checkpoint, read.notes)
    }
}
