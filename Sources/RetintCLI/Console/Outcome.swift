import ArgumentParser
import Retint

/// How a command ended, as its exit code says it.
package enum Outcome: Int32, Sendable {
    case done = 0
    case failed = 1
    case toleranceExceeded = 2
    case wrongUsage = 64
    case badInput = 65
    case interrupted = 130

    /// To be thrown when all there is to say has been said: ends the command without a message.
    var exit: ExitCode { ExitCode(rawValue) }
}

/// An error that knows how the command ends with it. All others end it as ``Outcome/failed``.
package protocol OutcomeError: Error {
    var outcome: Outcome { get }
}

/// What a command itself finds wrong.
package struct CommandError: OutcomeError, CustomStringConvertible {
    package let outcome: Outcome
    package let description: String

    package init(_ outcome: Outcome, _ description: String) {
        self.outcome = outcome
        self.description = description
    }
}

extension FileError: OutcomeError {
    package var outcome: Outcome { operation == "read" ? .badInput : .failed }
}

extension TensorFileError: OutcomeError {
    package var outcome: Outcome { kind == .unwritable ? .failed : .badInput }
}

extension ImageError: OutcomeError {
    package var outcome: Outcome { kind == .unwritable ? .failed : .badInput }
}

extension CheckpointError: OutcomeError {
    package var outcome: Outcome { kind == .badOption ? .wrongUsage : .badInput }
}

extension ColorizerError: OutcomeError {
    package var outcome: Outcome { .wrongUsage }
}

extension MLPackageError: OutcomeError {
    package var outcome: Outcome { isUnwritable ? .failed : .badInput }
}

extension ModelError: OutcomeError {
    package var outcome: Outcome { kind == .size ? .wrongUsage : .badInput }
}

extension ConversionError: OutcomeError {
    package var outcome: Outcome { cause == .option ? .wrongUsage : .badInput }
}
