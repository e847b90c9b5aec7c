import RetintEngine
import RetintRuntime

extension PerformanceReport {
    /// The memory of the process while it loads, compiles and runs a model.
    ///
    /// The peak is the kernel's (VmHWM), reset before. It includes all resident pages: the heap,
    /// the stacks, retint and its libraries, and mapped files, but not files in the page cache.
    public struct PeakMemory: Hashable, Sendable, Encodable {
        /// The peak of resident bytes.
        public let peakBytes: Int
        /// The resident bytes before: retint, its libraries and its threads, after a model
        /// ran and its memory was returned to the system.
        public let baseBytes: Int
        /// The memory that the model added: ``peakBytes`` minus ``baseBytes``.
        public let addedBytes: Int
        /// The bytes of the weights in the compiled program, in float32, without the copies that
        /// some kernels lay out for themselves.
        public let weightBytes: Int
        /// The bytes of intermediate results and workspace in the compiled program.
        public let intermediateBytes: Int

        /// Loads, compiles and runs a model twice.
        ///
        /// - Returns: nil if the system does not let the peak be reset.
        static func measured(_ path: String, _ options: PerformanceOptions) throws -> Self? {
            RetintEngine.Machine.releaseFreeMemory()
            guard ProcessMemory.resetPeak(), let base = ProcessMemory.residentBytes else {
                return nil
            }
            let sampled = try options.program(options.model(at: path))
            for _ in 0..<2 { try sampled.predict() }
            let program = sampled.program.program
            guard let peak = ProcessMemory.peakBytes else { return nil }
            return Self(
                peakBytes: peak, baseBytes: base, addedBytes: max(peak - base, 0),
                weightBytes: program.variableBytes,
                intermediateBytes: program.arenaBytes)
        }
    }
}
