import Retint

/// The errors of single files in a command that continues with the others.
struct Failures {
    private var errors: [any Error] = []

    /// How many there were.
    var count: Int { errors.count }

    /// Prints an error and records it.
    mutating func add(_ error: any Error) {
        keep(error)
        Console.note("error: \(message(for: error))")
    }

    /// Records an error for ``list()``.
    mutating func keep(_ error: any Error) { errors.append(error) }

    /// Prints all errors, for a command whose results would separate them.
    func list() {
        for error in errors { Console.note("error: \(message(for: error))") }
    }

    /// Throws if there were errors: the input's fault if it was in all of them, else a failure.
    ///
    /// - Parameters:
    ///   - total: the number of files.
    ///   - files: what they are, in the plural: "photos".
    ///   - done: what failed, as a participle: "colorized".
    func finish(of total: Int, _ files: String, _ done: String) throws {
        guard let first = errors.first else { return }
        // In another program, nobody has read the list.
        let cause = CommandOutput.current == nil ? "" : "; the first: \(message(for: first))"
        throw CommandError(
            Fault(ofAll: errors),
            "\(errors.count) of \(total) \(files) could not be \(done)\(cause)")
    }
}

/// Throws a usage error if a value is out of range; nil passes.
func check(_ value: Int?, _ option: String, _ range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    throw CommandError(
        .usage,
        "\(option) \(value): must be from \(range.lowerBound) to \(range.upperBound)")
}
