import RetintArchitectures
import RetintFiles
import RetintTensorFiles

extension Checkpoint {
    /// Writes the checkpoint. A file at `path` is replaced when the new one is complete.
    ///
    /// In float16 a file takes half as much. What is small stays float32: parameters of one axis,
    /// such as biases and statistics, and the optimizer's state.
    ///
    /// - Parameter type: how weights are stored: float32 or float16. They are float32 again when
    ///   they are read.
    /// - Throws: `TensorFileError` if the file cannot be written; ``CheckpointError`` for a weight
    ///   that float16 does not hold.
    public func write(to path: some PathConvertible, as type: StoredType = .float32) throws {
        let path = path.filePath.string
        let state = try state.map { ($0, try $1.stored(as: type, $0, in: path)) }
        let writer = try HDF5Writer(path: path)
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

extension StoredTensor {
    /// The tensor in the type in which a checkpoint stores it.
    fileprivate func stored(
        as type: StoredType, _ name: String, in path: String
    ) throws(CheckpointError) -> StoredTensor {
        guard let floats, shape.rank > 1, type != storedType else { return self }
        let largest = Float(Float16.greatestFiniteMagnitude)
        if type == .float16, let value = floats.first(where: { $0.isFinite && abs($0) > largest }) {
            throw CheckpointError(
                .malformed, path: path,
                problem: "cannot hold \(value), a value of \(name), in float16; write it in float32"
            )
        }
        return StoredTensor(shape: shape, floats: floats, storedType: type)
    }
}
