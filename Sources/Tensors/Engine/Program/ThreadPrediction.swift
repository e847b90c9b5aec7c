import RetintCompiler

/// What a run would take if each of its threads had a processor of its own.
///
/// It is measured on one processor: each thread's part of each phase of a step runs by itself, and
/// the longest part is what the phase takes. What processors do to each other is not in it, except
/// for the barriers between phases: the memory's bandwidth, which they share, and their clocks.
public struct ThreadPrediction: Encodable, Sendable {
    /// The threads of the run.
    public let threads: Int
    /// What it takes, in seconds: the sum of the others.
    public let seconds: Double
    /// All work that several threads share, divided by their number.
    public let balancedSeconds: Double
    /// What the longest parts of phases take longer than others on average.
    public let unevenSeconds: Double
    /// Phases of one thread, because there is little to do in them, or one part.
    public let serialSeconds: Double
    /// Starting the threads for each phase, and waiting for the last.
    public let barrierSeconds: Double
    /// The steps, in order.
    public let steps: [Step]

    /// What one step is predicted to take.
    public struct Step: Encodable, Sendable {
        /// The fused operations, joined by "+".
        public let name: String
        /// The module that applied the first of them.
        public let module: String
        /// The threads that have work in its widest phase.
        public let parts: Int
        /// Its longest parts, divided by the average; 1 if all threads have the same work.
        public let unevenness: Double
        /// All of its time, with barriers.
        public let seconds: Double
    }
}

extension Program {
    /// Predicts what a run takes on the program's threads. There may be more of them than
    /// processors.
    ///
    /// - Parameter runs: each phase's time is the median.
    /// - Returns: nil if the program does not run on the CPU.
    public func threadPrediction(runs: Int = 5) -> ThreadPrediction? {
        var measured: (phases: [[PhaseTime]], threads: Int)?
        withExecutor { executor in
            guard let executor = executor as? CPUExecutor else { return }
            executor.prepare()
            let phases = (0..<steps.count).map { executor.phases(ofStep: $0) }
            var timed = phases.map { $0.map { _ in [PhaseTime]() } }
            for _ in 0..<runs {
                for (step, calls) in phases.enumerated() {
                    for (index, call) in calls.enumerated() {
                        timed[step][index].append(PhaseTime(of: call, threads: executor.threads))
                    }
                }
            }
            measured = (timed.map { $0.map(\.median) }, executor.threads)
        }
        // Outside of the program's turn: the barrier is measured on the pool of two threads, which
        // may be the program's, or another program's at this time.
        return measured.map { phases, threads in
            ThreadPrediction(
                steps, phases, threads: threads, barrier: Barrier.seconds(threads: threads))
        }
    }
}

/// The seconds that the parts of one phase take.
private struct PhaseTime {
    /// Of all parts together.
    var total = 0.0
    /// Until the last thread is done, if each has a processor.
    var longest = 0.0
    /// The threads that have work.
    var parts = 0
    var isSerial: Bool

    /// Runs the parts one after another.
    init(of call: KernelCall, threads: Int) {
        let clock = ContinuousClock()
        func seconds(_ part: Part) -> Double { clock.measure { call.run(part) } / .seconds(1) }
        isSerial = call.isSmall || threads == 1
        // Threads that are done take pieces from others: the next piece goes to whoever is first.
        var busy = [Double](repeating: 0, count: threads)
        let pieces = isSerial ? 1 : Int(call.pieces)
        for thread in 0..<threads {
            for piece in 0..<pieces {
                let own = seconds(
                    Part(thread: thread, of: threads, piece: piece, of: pieces))
                total += own
                let first = pieces == 1 ? thread : busy.indices.min { busy[$0] < busy[$1] } ?? 0
                busy[first] += own
            }
        }
        // An empty part takes as long as a call.
        let most = busy.max() ?? 0
        parts = isSerial ? 1 : max(busy.count { $0 > 2e-7 || $0 > most / 8 }, 1)
        isSerial = parts == 1
        longest = isSerial ? total : most
    }
}

extension [PhaseTime] {
    /// The one that takes the median time.
    fileprivate var median: PhaseTime { sorted { $0.longest < $1.longest }[count / 2] }
}

extension ThreadPrediction {
    fileprivate init(
        _ steps: [RetintCompiler.Step], _ phases: [[PhaseTime]], threads: Int, barrier: Double
    ) {
        self.threads = threads
        let all = phases.joined()
        let shared = all.filter { !$0.isSerial }
        balancedSeconds = shared.reduce(0) { $0 + $1.total / Double(threads) }
        unevenSeconds = shared.reduce(0) { $0 + $1.longest - $1.total / Double(threads) }
        serialSeconds = all.reduce(0) { $0 + ($1.isSerial ? $1.longest : 0) }
        barrierSeconds = barrier * Double(shared.count)
        seconds = balancedSeconds + unevenSeconds + serialSeconds + barrierSeconds
        self.steps = zip(steps, phases).map { step, phases in
            let shared = phases.filter { !$0.isSerial }
            let longest = shared.reduce(0) { $0 + $1.longest }
            let mean = shared.reduce(0) { $0 + $1.total / Double(threads) }
            return Step(
                name: step.kernel.name, module: step.module,
                parts: phases.map(\.parts).max() ?? 0,
                unevenness: mean > 0 ? longest / mean : 1,
                seconds: phases.reduce(0) { $0 + $1.longest } + barrier * Double(shared.count))
        }
    }
}

/// What it costs to start the threads of a pool, and to wait for them.
enum Barrier {
    /// Measured on two threads. Each further thread reads the start from the starter's cache and
    /// writes its end to the same counter, which passes from processor to processor: as much as
    /// one of the two ways between the first two.
    static func seconds(threads: Int) -> Double {
        guard threads > 1 else { return 0 }
        let two = ofTwo
        return two + Double(threads - 2) * two / 4
    }

    private static let ofTwo = seconds(on: .shared(threads: 2), rounds: 4000)

    /// Measures it while no program uses the pool.
    static func seconds(on pool: ThreadPool, rounds: Int) -> Double {
        let kernel = EmptyKernel()
        var seconds: [Double] = []
        pool.withExclusiveUse {
            // Calls do not keep their kernel.
            withExtendedLifetime(kernel) {
                let calls = KernelCall.phases(
                    of: kernel, threads: pool.threads, EmptyKernel.workspace)
                seconds = (0..<5).map { _ in
                    ContinuousClock().measure {
                        for _ in 0..<rounds { for call in calls { pool.run(call) } }
                    } / .seconds(1) / Double(rounds)
                }
            }
        }
        return seconds.min() ?? 0
    }
}

private final class EmptyKernel: Kernel {
    nonisolated(unsafe) static let workspace = UnsafeMutablePointer<Float>.allocate(capacity: 1)

    init() { super.init(name: "empty", work: 1 << 20) }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {}
}
