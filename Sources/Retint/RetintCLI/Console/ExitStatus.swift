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
struct CommandError: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

extension ExitStatus {
    /// The status that a command ends with after its own error or one of the library; nil for
    /// any other error, such as one of the argument parser.
    init?(for error: any Error) {
        switch error {
        case let error as CommandError: self = error.status
        case let error as FileError: self = error.operation == "read" ? .badInput : .failed
        case let error as TensorFileError: self = error.kind == .unwritable ? .failed : .badInput
        case let error as ImageError: self = error.kind == .unwritable ? .failed : .badInput
        case let error as MLPackageError: self = error.isUnwritable ? .failed : .badInput
        case let error as CheckpointError: self = error.kind == .badOption ? .wrongUsage : .badInput
        case let error as ConversionError: self = error.cause == .option ? .wrongUsage : .badInput
        case is ONNXError: self = .badInput
        case let error as ModelError: self = error.kind == .size ? .wrongUsage : .badInput
        case let error as PhotoError:
            self = [.packed, .output, .corners].contains(error.kind) ? .wrongUsage : .badInput
        case let error as BenchmarkError: self.init(error)
        case let error as TrainingError: self.init(error)
        case let error as EvaluationError: self.init(errors: error.failures.map(\.error))
        case let error as FrameError:
            self = [.truncated, .damaged].contains(error.kind) ? .failed : .badInput
        case let error as FilmError: self = error.kind == .unreadable ? .badInput : .failed
        case let error as AppleRuntimeError:
            self = error.kind == .unavailable || error.kind == .timedOut ? .failed : .badInput
        case is ColorizerError: self = .wrongUsage
        case is VerificationError: self = .badInput
        default: return nil
        }
    }

    /// The status of a command in which several files failed.
    init(errors: [any Error]) {
        self = errors.allSatisfy { ExitStatus(for: $0) == .badInput } ? .badInput : .failed
    }

    private init(_ error: BenchmarkError) {
        switch error.kind {
        case .noCacheFolder: self = .failed
        case .measurements: self = .badInput
        case .option, .notTrainable: self = .wrongUsage
        }
    }

    private init(_ error: TrainingError) {
        switch error.kind {
        case .noPhotos, .cannotResume, .configuration, .ranksDiffer: self = .badInput
        case .notFinite: self = .failed
        case .runExists, .setting: self = .wrongUsage
        }
    }
}
