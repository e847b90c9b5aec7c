import RetintEngine
import RetintFiles
import RetintRuntime

extension PerformanceReport {
    /// The time of a model from its file to its first colors.
    ///
    /// It is measured in a process that has already run a model: the startup time of the process
    /// itself is not included.
    public struct Startup: Sendable, Encodable {
        /// The times of the parts, in seconds: medians over the rounds.
        public struct Times: Hashable, Sendable, Encodable {
            /// The file is read and checked. The weights of a package are read when it is compiled.
            public let loadSeconds: Double
            /// The graph is built and compiled, and gets its weights.
            public let compileSeconds: Double
            /// The first prediction, which also lays out the weights for the kernels.
            public let firstPredictionSeconds: Double
            /// All of these.
            public let totalSeconds: Double
        }

        /// How ``cold`` is measured, and what it does not cover.
        public let notice =
            "Before each cold start: fsync, and posix_fadvise(POSIX_FADV_DONTNEED) on the model's "
            + "files; it counts only if mincore then finds none of their pages in memory. "
            + "Directory entries, the pages of retint and its libraries, and caches below the "
            + "kernel, such as that of a disk or of a virtual machine's host, stay warm."
        /// The number of starts with each state of the cache.
        public let rounds: Int
        /// The pages of the model's files were dropped from memory before each start; nil if that
        /// failed.
        public let cold: Times?
        /// Why ``cold`` is nil.
        public let coldProblem: String?
        /// The files had just been read.
        public let warm: Times
    }
}

/// Collects the starts of one model.
struct StartupMeasurement {
    private let path: String
    private let options: PerformanceOptions
    private var cold: [PerformanceReport.Startup.Times] = []
    private var warm: [PerformanceReport.Startup.Times] = []
    private var problem: String?

    init(_ path: String, _ options: PerformanceOptions) {
        (self.path, self.options) = (path, options)
    }

    /// Starts once with a cold and once with a warm cache.
    mutating func addRound() throws {
        if problem == nil {
            problem = try Self.dropPages(of: path)
            if problem == nil { cold.append(try Self.start(path, options)) }
        }
        warm.append(try Self.start(path, options))
    }

    var result: PerformanceReport.Startup {
        PerformanceReport.Startup(
            rounds: warm.count, cold: problem == nil ? .init(medians: cold) : nil,
            coldProblem: problem, warm: .init(medians: warm))
    }

    /// - Returns: why pages are still in memory; nil if they are gone.
    private static func dropPages(of path: String) throws -> String? {
        try PageCache.drop(path)
        let left = try PageCache.residentBytes(of: path)
        if left == 0 { return nil }
        return "\(left) bytes of \(path) stayed in memory: the file system, or another program "
            + "that uses the file, keeps them, or this user lacks permission to query them"
    }

    private static func start(
        _ path: String, _ options: PerformanceOptions
    ) throws -> PerformanceReport.Startup.Times {
        let clock = ContinuousClock()
        let begin = clock.now
        let model = try options.model(at: path)
        let loaded = clock.now
        let program = try options.program(model)
        let compiled = clock.now
        try program.predict()
        let end = clock.now
        return PerformanceReport.Startup.Times(
            loadSeconds: (loaded - begin) / .seconds(1),
            compileSeconds: (compiled - loaded) / .seconds(1),
            firstPredictionSeconds: (end - compiled) / .seconds(1),
            totalSeconds: (end - begin) / .seconds(1))
    }
}

extension PerformanceReport.Startup.Times {
    fileprivate init(medians times: [Self]) {
        loadSeconds = times.map(\.loadSeconds).median
        compileSeconds = times.map(\.compileSeconds).median
        firstPredictionSeconds = times.map(\.firstPredictionSeconds).median
        totalSeconds = times.map(\.totalSeconds).median
    }
}
