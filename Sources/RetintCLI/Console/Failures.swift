import Foundation

/// What went wrong with some of many files while the others went on.
struct Failures {
    private var errors: [any Error] = []

    var count: Int { errors.count }

    /// Keeps an error and says it at once.
    mutating func add(_ error: any Error) {
        errors.append(error)
        Console.note("error: \(message(for: error))")
    }

    /// Ends the command as failed or as having met bad input, if anything went wrong.
    ///
    /// - Parameters:
    ///   - total: how many files there were.
    ///   - done: what could not be done with those that failed: "colored".
    func finish(of total: Int, _ files: String, _ done: String) throws {
        guard !errors.isEmpty else { return }
        let outcomes = errors.map { ($0 as? any OutcomeError)?.outcome ?? .failed }
        let outcome = outcomes.allSatisfy { $0 == .badInput } ? Outcome.badInput : .failed
        throw CommandError(outcome, "\(errors.count) of \(total) \(files) could not be \(done)")
    }
}

/// Makes a directory and those on the way to it, unless it is there.
func makeDirectory(_ path: String) throws {
    do {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    } catch {
        let inner = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        let reason = inner.map { String(cString: strerror(Int32($0.code))) } ?? "\(error)"
        throw CommandError(.failed, "\(path): cannot be made a directory: \(reason)")
    }
}

/// Throws a usage error unless a number that was given is at least 1.
func checkPositive(_ value: Int?, _ option: String) throws {
    guard let value, value < 1 else { return }
    throw CommandError(.wrongUsage, "\(option) is \(value); give a number from 1")
}
