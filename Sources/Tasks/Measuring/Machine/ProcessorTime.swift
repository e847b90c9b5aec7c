import Foundation
import RetintRuntime

/// The processor time that the machine and this process have used: two readings tell how much other
/// work ran between them.
package struct ProcessorTime {
    /// Busy seconds, summed over the processors.
    private let busy: Double
    /// Seconds in which a hypervisor gave a processor to another machine.
    private let stolen: Double
    /// Seconds that this process ran.
    private let own: Double
    private let instant: ContinuousClock.Instant

    /// The time so far; nil if the system does not report it.
    package init?() {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        self.init(
            stat: procLines(of: "/proc/stat").first ?? "",
            own: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9, at: .now)
    }

    /// - Parameters:
    ///   - line: the first line of `/proc/stat`: clock ticks, summed over the processors.
    ///   - own: seconds that this process ran.
    package init?(stat line: Substring, own: Double, at instant: ContinuousClock.Instant) {
        let fields = line.split(separator: " ")
        let ticks = fields.dropFirst().compactMap { Double($0) }
        // user, nice, system, idle, iowait, irq, softirq, steal; see proc(5).
        guard fields.first == "cpu", ticks.count >= 8 else { return nil }
        let perSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
        busy = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / perSecond
        stolen = ticks[7] / perSecond
        (self.own, self.instant) = (own, instant)
    }

    /// The share of the processors' time, 0…1, that went to other processes and to other machines
    /// of the host since an earlier reading.
    ///
    /// - Parameter processors: of the machine, not only those that the process may use.
    package func otherShare(
        since start: ProcessorTime, processors: Int = ProcessInfo.processInfo.processorCount
    ) -> Double {
        let seconds = (instant - start.instant) / .seconds(1) * Double(processors)
        let others = busy - start.busy + stolen - start.stolen - (own - start.own)
        return seconds > 0 ? min(max(others / seconds, 0), 1) : 0
    }
}
