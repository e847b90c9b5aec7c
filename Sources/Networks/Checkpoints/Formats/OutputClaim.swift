import RetintFiles
import RetintMLPackage

/// An output that only this process writes, from start to end.
public struct OutputClaim {
    private let output: String
    /// Nil for a pipe or a device, which is not replaced.
    private let lock: OutputLock?

    /// Claims an output, so that a second process with the same output is refused before it starts.
    ///
    /// - Throws: a ``Refusal`` if writing to `output` would destroy an input or change an input
    ///   package; `FileError` if another process writes it, or if it cannot be replaced.
    public init(_ output: String, inputs: [String]) throws {
        for input in inputs { try Self.refuse(output, over: input) }
        try ModelFormat(ofOutput: output)?.checkReplaceable(at: output)
        let isStream = try FileKind(at: output, for: "write") == .other
        self.output = output
        lock = isStream ? nil : try OutputLock(output)
    }

    /// Releases the output.
    public func end() { withExtendedLifetime(lock) {} }

    /// Removes the partial files and the locks of all outputs of this process, which is about to
    /// end by a signal.
    public static func abandonAll() { removeOwnLeftovers() }

    /// The bytes of the output, or of all files in it.
    ///
    /// - Throws: `FileError` if it cannot be examined.
    public var byteCount: Int {
        get throws(FileError) { try totalBytes(of: output) }
    }

    private static func refuse(_ output: String, over input: String) throws {
        func error(_ relation: String) -> Refusal<Fault> {
            Refusal(.usage, file: output, rule: relation, remedy: "choose another output path")
        }
        let input = FunctionPath(input).package.string
        guard let source = FileIdentity(of: input) else { return }
        let target = FileIdentity(of: output)
        if source == target { throw error("is the input itself") }
        if let target, foldersAbove(input).contains(target) {
            throw error("contains input \(input)")
        }
        // A folder of photos may take an output; a package would no longer be one.
        let isModel = ModelFormat.all.contains { $0.isFolder && $0.isExtension(of: input) }
        guard isModel, try isDirectory(input) else { return }
        if foldersAbove(output).contains(source) { throw error("is inside input \(input)") }
    }
}
