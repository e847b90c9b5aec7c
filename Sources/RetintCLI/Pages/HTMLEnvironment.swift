import Reports

/// What a report was made by.
func htmlEnvironment(_ arithmetic: String) -> String {
    let version = RetintCommand.configuration.version
    return """
        <h2>Environment</h2>
        <p>retint \(version) on \(Processor.name.escapedForHTML); \(arithmetic.escapedForHTML).</p>
        """
}
