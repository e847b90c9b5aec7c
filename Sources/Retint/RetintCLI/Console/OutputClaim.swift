import Retint

/// An output that only this command writes, from start to end.
struct OutputClaim {
    /// Nil for a pipe or a device, which is not replaced.
    fileprivate let lock: OutputLock?

    /// Releases the output.
    func end() { withExtendedLifetime(lock) {} }
}

/// Claims an output, so that a second command with the same output is refused before it starts.
///
/// - Throws: ``CommandError`` if writing to `output` would destroy an input or change an input
///   package; `FileError` if another process writes it, or if it cannot be replaced.
func claimOutput(_ output: String, inputs: [String]) throws -> OutputClaim {
    for input in inputs { try refuse(output, over: input) }
    try ModelFormat(ofOutput: output)?.checkReplaceable(at: output)
    let isStream = try FileKind(at: output, for: "write") == .other
    return OutputClaim(lock: isStream ? nil : try OutputLock(output))
}

private func refuse(_ output: String, over input: String) throws {
    func error(_ relation: String) -> CommandError {
        CommandError(.usage, "\(output): \(relation); choose another output path")
    }
    let input = FunctionPath(input).package.string
    guard let source = FileIdentity(of: input) else { return }
    let target = FileIdentity(of: output)
    if source == target { throw error("is the input itself") }
    if let target, foldersAbove(input).contains(target) { throw error("contains input \(input)") }
    // A folder of photos may take an output; a package would no longer be one.
    let isModel = ModelFormat.all.contains { $0.isFolder && $0.isExtension(of: input) }
    guard isModel, try isDirectory(input) else { return }
    if foldersAbove(output).contains(source) { throw error("is inside input \(input)") }
}
