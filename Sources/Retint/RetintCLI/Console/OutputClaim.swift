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
    switch output.filePath.extension {
    case "mlpackage": try MLPackage.checkReplaceable(output)
    case "aimodel": try MLPackage.checkReplaceableByAIModel(output)
    default: break
    }
    let isStream = try FileKind(at: output, for: "write") == .other
    return OutputClaim(lock: isStream ? nil : try OutputLock(output))
}

private func refuse(_ output: String, over input: String) throws {
    func error(_ relation: String) -> CommandError {
        CommandError(.wrongUsage, "\(output): \(relation); choose another output path")
    }
    let input = FunctionPath(input).package.string
    guard let source = FileIdentity(of: input) else { return }
    let target = FileIdentity(of: output)
    if source == target { throw error("is the input itself") }
    if let target, foldersAbove(input).contains(target) { throw error("holds the input \(input)") }
    // A folder of photos may take an output; a package would no longer be one.
    let isModel = ["mlpackage", "aimodel"].contains(input.filePath.extension)
    guard isModel, try isDirectory(input) else { return }
    if foldersAbove(output).contains(source) { throw error("lies in the input \(input)") }
}
