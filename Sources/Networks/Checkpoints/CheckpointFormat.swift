/// The layout of a checkpoint's HDF5 file.
///
/// The weights are datasets in the root group under their PyTorch names, so that h5py reads them
/// like any state dict; the optimizer's variables are in a group; the rest are attributes of the
/// root group.
package enum CheckpointFormat {
    /// The version that is written, and the newest version that is read.
    static let version = 1

    static let versionKey = "retint_checkpoint"
    static let architectureKey = "architecture"
    static let trainingKey = "training"
    /// The prefix of options' names.
    static let optionPrefix = "option."

    /// The dataset with the ``NetworkDefinition`` of a network that is not in the registry: bytes.
    static let definition = "retint/definition"
    /// Its name in the list of tensors.
    static let definitionName = "retint.definition"

    static let optimizerGroup = "optimizer"
    /// The prefix of the optimizer's variables; the file has a group instead.
    static let optimizerPrefix = "optimizer."
    /// The first part of the names of a network that is trained beside the colorizer. Its weights
    /// are kept among the optimizer's variables: they are not part of the colorizer.
    package static let opponent = "discriminator"
    static let opponentPrefix = "\(optimizerPrefix)\(opponent)."

    /// The name under which the optimizer's variables list a variable of a training.
    package static func entry(of variable: String) -> String {
        variable.hasPrefix("\(opponent).") ? optimizerPrefix + variable : variable
    }

    /// The variable of a training with that name.
    package static func variable(named entry: String) -> String {
        entry.hasPrefix(opponentPrefix) ? String(entry.dropFirst(optimizerPrefix.count)) : entry
    }
}
