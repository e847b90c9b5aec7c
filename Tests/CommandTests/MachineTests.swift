import Foundation
import RetintTestSupport
import Testing

@testable import Retint

@Suite(.sampled()) struct MachineTests {
    /// Clock ticks as in `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal,
    /// guest, guest_nice.
    private func time(_ ticks: [Int], own: Double, after seconds: Double) throws -> ProcessorTime {
        let rate = sysconf(Int32(_SC_CLK_TCK))
        let scaled = ticks.map { "\($0 * rate / 100)" }.joined(separator: " ")
        return try #require(
            ProcessorTime(stat: "cpu  \(scaled)", own: own, at: Self.epoch + .seconds(seconds)))
    }

    private static let epoch = ContinuousClock.now

    /// Ten seconds of four processors are 40. User, nice, system, irq and softirq grow by
    /// 10 + 1 + 5 + 0.2 + 0.3 = 16.5 s, of which 12.5 s are this process's own: 4 s are others',
    /// and 2 s were stolen. Idle time, waiting and guests, which are part of user, do not count.
    @Test func countsOtherWorkAndStolenTime() throws {
        let start = try time([100, 0, 50, 9000, 10, 1, 2, 3, 4, 5], own: 1, after: 0)
        let end = try time(
            [1100, 100, 550, 11000, 110, 21, 32, 203, 104, 105], own: 13.5, after: 10)
        #expect(abs(end.otherShare(since: start, processors: 4) - 6.0 / 40) < 1e-9)
    }

    @Test func ownWorkIsNotOthers() throws {
        let start = try time([0, 0, 0, 0, 0, 0, 0, 0], own: 0, after: 0)
        // The kernel's counters are coarser than the process's clock.
        let end = try time([199, 0, 0, 0, 0, 0, 0, 0], own: 2, after: 1)
        #expect(end.otherShare(since: start, processors: 2) == 0)
        #expect(start.otherShare(since: start, processors: 2) == 0)
    }

    @Test(arguments: ["", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu a b c d e f g h"])
    func otherLinesAreNotRead(_ line: String) {
        #expect(ProcessorTime(stat: Substring(line), own: 0, at: .now) == nil)
    }

    @Test func readsThisSystem() {
        #expect(ProcessorTime() != nil)
        #expect(!Processor.name.isEmpty)
    }
}
