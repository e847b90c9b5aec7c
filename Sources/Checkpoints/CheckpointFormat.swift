/// How a checkpoint is laid out in its HDF5 file.
///
/// The weights are datasets in the root group under their PyTorch names, so that h5py reads them
/// as it reads any state dict; the optimizer's variables stand in a group of their own; the rest
/// are attributes of the root group.
enum CheckpointFormat {
    /// What this version writes, and the newest that it reads.
    static let version = 1

    static let versionKey = "retint_checkpoint"
    static let architectureKey = "architecture"
    static let trainingKey = "training"
    /// Before the name of an option.
    static let optionPrefix = "option."

    static let optimizerGroup = "optimizer"
    /// How names of the optimizer's variables begin; the group stands in its place in the file.
    static let optimizerPrefix = "optimizer."
}
