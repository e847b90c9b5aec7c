/// Who can fix what went wrong.
public enum Fault: String, Hashable, Sendable, CaseIterable, Codable {
    /// The caller: an argument or an option cannot be used.
    case usage
    /// Whoever made what was read: a file, a model or a photo cannot be used.
    case input
    /// Neither: the system, another program or a computation failed.
    case failure

    /// The fault of several errors together: the input if that is at fault in all of them.
    public init(ofAll errors: [any Error]) {
        let areInput = errors.allSatisfy { ($0 as? any RetintError)?.fault == .input }
        self = areInput ? .input : .failure
    }
}

/// An error of retint. Its description names the file, the place in it, the rule that is broken and
/// the way out.
public protocol RetintError: Error, CustomStringConvertible {
    /// Who can fix it.
    var fault: Fault { get }
    /// The parameters whose change avoids the error; empty if no parameter helps.
    ///
    /// The description states the rule in the library's terms: a program with its own flags or
    /// fields adds their names.
    var remedies: [Remedy] { get }
}

/// What a module refuses, for programs that handle some of it.
public protocol RefusalKind: Hashable, Sendable {
    /// Who can fix it.
    var fault: Fault { get }
}

/// Something that was refused, or that failed: the file, the place in it, the rule that is broken,
/// and the way out.
///
/// Each module has its own kinds, and a name for refusals of these: `FileError`, `ImageError`.
public struct Refusal<Problem: RefusalKind>: RetintError, Hashable {
    /// What the module refuses.
    public typealias Kind = Problem

    /// What is refused.
    public var kind: Problem
    /// The path of the file, or what else the model or stream is called; empty if there is none.
    public var file: String
    /// The place in the file, such as `outputs/ab` or `line 12`; empty if the whole file is
    /// meant.
    public var place: String
    /// The rule that is broken.
    public let rule: String
    /// What to do about it: a clause, or sentences that end with a period; can be empty.
    public let remedy: String
    /// The parameters whose change avoids the error.
    public var remedies: [Remedy]

    /// Creates a refusal.
    public init(
        _ kind: Problem, file: String = "", place: String = "", rule: String, remedy: String = "",
        remedies: [Remedy] = []
    ) {
        (self.kind, self.file, self.place) = (kind, file, place)
        (self.rule, self.remedy, self.remedies) = (rule, remedy, remedies)
    }

    /// A refusal whose rule and remedy are one text: what follows the last semicolon is the remedy.
    public init(
        _ kind: Problem, file: String = "", place: String = "", _ problem: String,
        remedies: [Remedy] = []
    ) {
        let (rule, remedy) = problem.splitAtLastSemicolon
        self.init(
            kind, file: file, place: place, rule: rule, remedy: remedy, remedies: remedies)
    }

    /// Who can fix it.
    public var fault: Fault { kind.fault }

    /// The rule and the remedy: `rule; remedy`, or `rule. Remedy.` if the remedy is a sentence.
    public var problem: String {
        guard !remedy.isEmpty else { return rule }
        return rule + (remedy.hasSuffix(".") ? ". " : "; ") + remedy
    }

    /// `file: place: problem`, without empty parts.
    public var description: String {
        [file, place, problem].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// A refusal without kinds of its own has only a fault.
extension Fault: RefusalKind {
    /// Itself.
    public var fault: Fault { self }
}

extension Refusal: Codable where Problem: Codable {}

extension String {
    /// The text before and after the last `; `; all of it and an empty text if the rest is not a
    /// clause.
    fileprivate var splitAtLastSemicolon: (String, String) {
        var end = endIndex
        while end > startIndex {
            end = index(before: end)
            guard self[end] == ";", self[end...].hasPrefix("; ") else { continue }
            let rest = self[end...].dropFirst(2)
            if rest.isEmpty || rest.hasSuffix(".") { break }
            return (String(self[..<end]), String(rest))
        }
        return (self, "")
    }
}
