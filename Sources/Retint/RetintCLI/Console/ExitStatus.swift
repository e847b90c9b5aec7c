import ArgumentParser
import Retint

/// How a command ends: the exit code of the process.
enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    case toleranceExceeded = 2
    case wrongUsage = 64
    case badInput = 65
    case interrupted = 130

    /// Throw this to end the command without another message.
    var exit: ExitCode { ExitCode(rawValue) }
}

/// An error that a command itself detects.
typealias CommandError = Refusal<Fault>

extension ExitStatus {
    /// The status that a command ends with after a fault.
    init(_ fault: Fault) {
        switch fault {
        case .usage: self = .wrongUsage
        case .input: self = .badInput
        case .failure: self = .failed
        }
    }

    /// The status that a command ends with after its own error or one of the library; nil for
    /// any other error, such as one of the argument parser.
    init?(for error: any Error) {
        guard let error = error as? any RetintError else { return nil }
        self.init(error.fault)
    }
}
