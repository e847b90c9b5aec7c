/// An error that other arguments would avoid.
///
/// The description states the rule in the library's terms. A program with its own flags or fields
/// adds their names, one for each ``Remedy``.
public protocol RemediableError: Error {
    /// The parameters to change; empty if no argument helps.
    var remedies: [Remedy] { get }
}

/// A parameter of the library whose change avoids an error.
public struct Remedy: Hashable, Sendable {
    /// The parameter's name in Swift, such as `maximumDeltaE`.
    public let parameter: String
    /// A value that avoids the error, as text; nil if the choice is the caller's.
    public let value: String?

    /// Creates a remedy.
    ///
    /// - Parameters:
    ///   - parameter: the parameter's name in Swift, such as `maximumDeltaE`.
    ///   - value: a value that avoids the error, as text; nil if the choice is the caller's.
    public init(_ parameter: String, _ value: String? = nil) {
        self.parameter = parameter
        self.value = value
    }
}
