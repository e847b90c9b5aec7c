/// What runs a model that is verified.
public enum Judge: String, Hashable, Sendable, Codable, CaseIterable {
    /// retint's own engine.
    case retint
    /// Apple's Core AI runtime, which runs `.aimodel` files on Linux too.
    case apple
}

/// A judge that was asked to run a model, and could not.
public struct MissingJudge: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The judge.
    public let judge: Judge
    /// Why it did not run.
    public let reason: String

    /// Names a judge that did not run.
    ///
    /// - Parameters:
    ///   - judge: the judge.
    ///   - reason: why it did not run, with the remedy.
    public init(_ judge: Judge, reason: String) {
        (self.judge, self.reason) = (judge, reason)
    }

    /// Who did not run, and why.
    public var description: String {
        switch judge {
        case .retint: "retint's engine did not run: \(reason)"
        case .apple: "Apple's Core AI runtime did not run: \(reason)"
        }
    }
}
