/// How a graph is compiled.
public struct CompileOptions: Sendable {
    /// Threads to run on; all processors that the process may use if nil.
    public var threads: Int?
    /// Rounds every operation's result to half precision, as a float16 accelerator would.
    public var roundsToHalf = false

    public init() {}

    public init(threads: Int?) {
        self.threads = threads
    }
}
