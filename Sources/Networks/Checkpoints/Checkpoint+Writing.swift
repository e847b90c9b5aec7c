import RetintArchitectures
import RetintFiles
import RetintTensorFiles

extension Checkpoint {
    /// Writes the checkpoint. A file at `path` is replaced when the new one is complete.
    ///
    /// - Throws: `TensorFileError` if the file cannot be written.
    public func write(to path: some PathConvertible) throws {
        let writer = try HDF5Writer(path: path.filePath.string)
        try writeAttributes(to: writer)
        if let definition = network.definition {
            let bytes = try definition.bytes()
            try writer.write(
                StoredTensor(shape: [bytes.count], bytes: bytes), to: CheckpointFormat.definition)
        }
        for (name, tensor) in state { try writer.write(tensor, to: name) }
        for (name, tensor) in optimizer {
            try writer.write(tensor, to: Self.optimizerDataset(name))
        }
        try writer.finish()
    }

    private func writeAttributes(to writer: HDF5Writer) throws {
        typealias Format = CheckpointFormat
        try writer.setAttribute(Format.versionKey, to: .integer(Format.version))
        try writer.setAttribute(Format.architectureKey, to: .string(network.architecture))
        for (name, value) in network.options.texts.sorted(by: { $0.key < $1.key }) {
            try writer.setAttribute(Format.optionPrefix + name, to: .string(value))
        }
        if let training { try writer.setAttribute(Format.trainingKey, to: .string(training)) }
    }

    private static func optimizerDataset(_ name: String) -> String {
        let prefix = CheckpointFormat.optimizerPrefix
        let bare = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        return "\(CheckpointFormat.optimizerGroup)/\(bare)"
    }
}
