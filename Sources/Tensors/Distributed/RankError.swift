public import RetintFiles

/// Why the ranks of a job cannot work together: the rank or file, the problem, and how to solve it.
public typealias RankError = Refusal<RankProblem>

/// What keeps ranks from working together.
public enum RankProblem: RefusalKind {
    /// A rank, or the messages between them, failed.
    case connection

    /// Neither the caller's nor an input's.
    public var fault: Fault { .failure }
}

extension RankError {
    package init(_ problem: String) { self.init(.connection, problem) }
}
