import RetintEngine
import RetintLocks
import RetintRuntime

/// The programs of one model, compiled when they are first needed and lent to one caller at a time.
final class ProgramPool: Sendable {
    /// The image size and the use that a program is compiled for.
    struct Kind: Hashable {
        let height, width: Int
        /// The threads that it runs on.
        let threads: Int
    }

    private final class Entry: Sendable {
        let kind: Kind
        let bytes: Int
        let program: Mutex<ModelProgram>

        init(_ kind: Kind, _ program: sending ModelProgram) {
            self.kind = kind
            bytes = program.program.variableBytes + program.program.arenaBytes
            self.program = Mutex(program)
        }
    }

    private let model: Model
    /// The idle programs, the most recently used last.
    private let idle = Mutex<[Entry]>([])
    private let leastKept: Int
    /// The memory for more idle programs than these.
    private static let idleBytes = 512 << 20

    /// - Parameter leastKept: the number of idle programs that are always kept, however large.
    init(_ model: Model, leastKept: Int) {
        (self.model, self.leastKept) = (model, leastKept)
    }

    /// Compiles a program unless one is idle.
    ///
    /// - Throws: `ModelError` if the model is not a colorizer or does not run at that size.
    func prepare(_ kind: Kind) throws { try giveBack(take(kind)) }

    /// Lends a program.
    ///
    /// - Throws: as ``prepare(_:)``; the errors of `body`.
    func withProgram<Value>(
        _ kind: Kind, _ body: (borrowing ModelProgram) throws -> sending Value
    ) throws -> sending Value {
        let entry = try take(kind)
        defer { giveBack(entry) }
        return try entry.program.withLock { try body($0) }
    }

    private func take(_ kind: Kind) throws -> Entry {
        let found: Entry? = idle.withLock { idle in
            idle.lastIndex { $0.kind == kind }.map { idle.remove(at: $0) }
        }
        if let found { return found }
        let model = model.onThreads(kind.threads)
        return Entry(kind, try model.program(height: kind.height, width: kind.width))
    }

    /// Keeps a program for the next caller, in place of the least recently used ones.
    private func giveBack(_ entry: Entry) {
        idle.withLock { idle in
            idle.append(entry)
            var bytes = idle.reduce(0) { $0 + $1.bytes }
            while idle.count > leastKept, bytes > Self.idleBytes {
                bytes -= idle.removeFirst().bytes
            }
        }
    }
}
