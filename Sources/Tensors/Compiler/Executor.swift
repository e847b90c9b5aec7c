import RetintGraph
import RetintTensors

/// A compiled graph in the memory of its backend, which runs its steps. It is used by one thread at
/// a time.
package protocol Executor: AnyObject {
    /// The threads of a run.
    var threads: Int { get }
    /// Bytes of an element in memory.
    var elementBytes: Int { get }
    /// Bytes of intermediate results and workspace.
    var arenaBytes: Int { get }
    /// The variables that are in memory only while they are laid out: every load has to name them.
    var released: Set<String> { get }
    /// Why a step of the last run failed; nil if none did.
    var failure: GraphError? { get }

    /// Sets variables by name. The shapes are those of the variables.
    ///
    /// - Throws: the error of a source that cannot be read.
    func load(_ sources: [String: any TensorSource]) throws

    /// Copies row-major scalars to a buffer.
    func write(_ scalars: [Float], to buffer: Buffer)

    /// The scalars of a buffer, row-major.
    func read(_ buffer: Buffer) -> [Float]

    /// The scalars of a buffer in the order of memory, the same for equal shapes.
    ///
    /// - Parameter scalars: replaced; its memory is reused.
    func copy(_ buffer: Buffer, to scalars: inout [Float])

    /// The largest magnitude of an element; infinite or NaN if any element is.
    func largestMagnitude(of buffer: Buffer) -> Float

    /// Calls `body` while no other program uses the same threads or device.
    func exclusively<Failure>(_ body: () throws(Failure) -> Void) throws(Failure)

    /// Computes what depends on variables alone, if they changed.
    func prepare()

    /// Runs one step, counted among those of a run, and waits for it.
    func run(step index: Int)

    /// Runs all steps once, and returns the seconds of each as the device counts them; nil if it
    /// does not count, so that callers time ``run(step:)``.
    func stepSeconds() -> [Double]?

    /// Runs all steps.
    ///
    /// - Parameter isCancelled: called between steps.
    /// - Returns: whether all steps were run.
    func run(isCancelled: () -> Bool) -> Bool
}

extension Executor {
    package func stepSeconds() -> [Double]? { nil }
}
