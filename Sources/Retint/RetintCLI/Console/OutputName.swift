import ArgumentParser

/// Refuses an output whose extension is that of another kind of file, which it would replace.
///
/// - Parameters:
///   - path: the output; nil if there is none, and a name without an extension passes.
///   - option: the option that names it.
///   - extensions: those of its kind, the usual one first.
/// - Throws: `ValidationError`.
func checkName(_ path: String?, _ option: String, _ extensions: String...) throws {
    guard let path, let given = path.filePath.extension?.lowercased(),
        !extensions.contains(given)
    else { return }
    throw ValidationError("\(option) \(path): the name must end in .\(extensions[0])")
}
