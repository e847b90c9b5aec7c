public import RetintFiles
import RetintMLPackage

extension ONNXNetwork {
    /// Writes the model to `path`, replacing an existing one. If it throws, `path` is left as it
    /// was. The same package and options give the same bytes.
    ///
    /// Above 2 GiB, which the format does not allow, constants are written to an external data file
    /// next to the model: `model.onnx.data`. It is in place before the model.
    ///
    /// - Parameters:
    ///   - path: where to write the model.
    ///   - externalData: whether constants are always written to an external data file.
    /// - Returns: the paths of all files that were written.
    /// - Throws: `FileError` if a file cannot be written; `MLPackageError` if the package's weights
    ///   cannot be read.
    @discardableResult
    public func write(
        to path: some PathConvertible, externalData: Bool = false
    ) throws -> [String] {
        var file = ModelFile(model: model, initializers: initializers)
        let pending = try PendingFile(for: path)
        var written = [path.filePath.string]
        var data: ExternalData?
        if externalData || initializers.reduce(0, { $0 + $1.byteCount }) > Self.largestContent {
            data = try ExternalData(for: path)
            file.externalPlaces = try data?.write(initializers) ?? [:]
        }
        try file.write(to: pending)
        if let data {
            try data.file.publish()
            written.append(data.file.destination.string)
        }
        try pending.publish()
        return written
    }

    /// 2 GiB minus what graph and metadata may take.
    private static let largestContent = 1 << 31 - 1 << 26
}
