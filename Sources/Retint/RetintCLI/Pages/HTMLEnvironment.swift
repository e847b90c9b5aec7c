import Retint

/// The section of a page about the environment of a measurement.
func htmlEnvironment(_ arithmetic: String) -> String {
    """
    <h2>Environment</h2>
    <p>\(environment(arithmetic).escapedForHTML)</p>
    """
}

/// retint's version, the processor, and the arithmetic.
func environment(_ arithmetic: String) -> String {
    "retint \(retintVersion) on \(Processor.name); \(arithmetic)."
}
