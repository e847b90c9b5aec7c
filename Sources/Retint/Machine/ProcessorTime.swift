import Foundation

/// The processor time that the machine and this process have used: two readings tell how much other
/// work ran between them.
struct ProcessorTime {
    /// Seconds, summed over the processors, in which something ran.
    private let busy: Double
    /// Seconds in which a hypervisor gave a processor to another machine.
    private let stolen: Double
    /// Seconds that this process ran.
    private let own: Double
    private let instant: ContinuousClock.Instant

    /// The time until now; nil where the system does not report it.
    init?() {
        let fields = procLines(of: "/proc/stat").first?.split(separator: " ") ?? []
        let ticks = fields.dropFirst().compactMap { Double($0) }
        // user, nice, system, idle, iowait, irq, softirq, steal; see proc(5).
        guard fields.first == "cpu", ticks.count >= 8 else { return nil }
        let perSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
        busy = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / perSecond
        stolen = ticks[7] / perSecond
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        own = Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        instant = ContinuousClock.now
    }

    /// The share of the machine's processors, 0…1, that went to other processes and other machines since an
    /// earlier reading.
    func otherShare(since start: ProcessorTime) -> Double {
        let processors = Double(ProcessInfo.processInfo.processorCount)
        let seconds = (instant - start.instant) / .seconds(1) * processors
        let others = busy - start.busy + stolen - start.stolen - (own - start.own)
        return seconds > 0 ? min(max(others / seconds, 0), 1) : 0
    }
}
