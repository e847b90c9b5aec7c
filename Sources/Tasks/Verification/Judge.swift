/// The runtime that runs a model for verification.
public enum Judge: String, Hashable, Sendable, Codable, CaseIterable {
    /// retint's own engine.
    case retint
    /// Apple's Core AI runtime, which runs `.aimodel` files on Linux too.
    case apple
    /// retint's engine on a GPU.
    case cuda

    /// Whether intermediate values can be compared.
    public var exposesLayers: Bool { self != .apple }
}

extension VerificationResults {
    /// A runtime that was asked to run a model, but could not.
    public struct MissingJudge: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The runtime.
        public let judge: Judge
        /// Why it did not run.
        public let reason: String

        /// Creates a record of a runtime that did not run.
        ///
        /// - Parameters:
        ///   - judge: the runtime.
        ///   - reason: why it did not run, and how to fix that.
        public init(_ judge: Judge, reason: String) {
            (self.judge, self.reason) = (judge, reason)
        }

        /// Which runtime did not run, and why.
        public var description: String {
            switch judge {
            case .retint: "retint's engine did not run: \(reason)"
            case .apple: "Apple's Core AI runtime did not run: \(reason)"
            case .cuda: "the GPU did not run: \(reason)"
            }
        }
    }
}
