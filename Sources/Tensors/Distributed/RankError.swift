/// Why the ranks of a job cannot work together.
public struct RankError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rank or file, the problem, and how to solve it.
    public let description: String

    package init(_ description: String) { self.description = description }
}
