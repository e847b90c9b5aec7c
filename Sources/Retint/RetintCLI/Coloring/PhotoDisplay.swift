import Retint
import Synchronization

/// The lines and the progress of a command that colors photos.
///
/// A single process prints each photo when it is done. With several ranks, the first one prints the
/// photos of all at the end.
final class PhotoDisplay: Sendable {
    private struct State {
        var failures = Failures()
        var colored = 0
        var skipped = 0
        /// The photos of this rank, not yet printed.
        var own: [PhotoLine] = []
    }

    private let total: Int
    private let ranks: Communicator
    private let bar: Mutex<ProgressBar?>
    private let state = Mutex(State())

    /// - Parameter total: the number of photos of all ranks.
    init(_ total: Int, _ ranks: Communicator) {
        (self.total, self.ranks) = (total, ranks)
        bar = Mutex(total > 1 ? ProgressBar("colorize", total: total, unit: "photos") : nil)
    }

    /// The photos that could not be colored.
    var failures: Failures { state.withLock { $0.failures } }

    /// How many photos were colored, for messages.
    var counts: String {
        state.withLock { "\($0.colored) of \(total) photos were colored" }
    }

    func add(_ file: PhotoFile, _ outcome: PhotoFile.Outcome) {
        let line = PhotoLine(file, outcome)
        let done = state.withLock { state in
            state.own.append(line)
            return state.own.count
        }
        bar.withLock { bar in
            if ranks.size == 1 {
                bar?.clear()
                show(line)
            }
            let (failed, skipped) = state.withLock { ($0.failures.count, $0.skipped) }
            bar?.update(
                min(done * ranks.size, total), excluding: failed + skipped,
                note: failed > 0 ? "\(failed) failed" : "")
        }
    }

    private func show(_ line: PhotoLine) {
        line.show()
        state.withLock { state in
            switch line.ending {
            case .colored: state.colored += 1
            case .skipped: state.skipped += 1
            case .failed(let failure): state.failures.keep(failure.error)
            }
        }
    }

    /// Ends the progress bar, and prints what was skipped and what failed.
    func finish() throws {
        bar.withLock { $0?.finish() }
        if ranks.size > 1 { try showAll() }
        let (skipped, failures) = state.withLock { ($0.skipped, $0.failures) }
        if skipped > 0 { Console.note("skipped \(skipped) of \(total) photos: already colored") }
        failures.list()
    }

    /// Shows the photos of all ranks, in their order. Ranks that were interrupted have fewer.
    private func showAll() throws {
        let own = state.withLock { $0.own }
        let padded = ranks.ownIndices(of: total).indices.map { $0 < own.count ? own[$0] : nil }
        for case .some(let line) in try ranks.gather(padded, of: total) { show(line) }
    }
}

/// The messages about a photo.
private struct PhotoLine: Codable {
    enum Ending: Codable {
        case colored(notes: [String])
        case skipped
        case failed(Failure)
    }

    struct Failure: Codable {
        let fault: Fault
        let message: String

        init(_ error: any Error) {
            fault = (error as? any RetintError)?.fault ?? .failure
            message = RetintCLI.message(for: error)
        }

        var error: CommandError { CommandError(fault, message) }
    }

    let photo: String
    let outputs: [String]
    let ending: Ending

    init(_ file: PhotoFile, _ outcome: PhotoFile.Outcome) {
        photo = file.photo
        outputs = [file.output, file.strip].compactMap { $0 }
        ending =
            switch outcome {
            case .colored(let notes): .colored(notes: notes)
            case .skipped: .skipped
            case .failed(let error): .failed(Failure(error))
            }
    }

    func show() {
        guard case .colored(let notes) = ending else { return }
        for note in notes { Console.warn("\(photo): \(note)") }
        for output in outputs { Console.print(output) }
    }
}
