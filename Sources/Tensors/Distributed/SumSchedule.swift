/// When the sums that a step starts are sent. Training sends them promptly; the other schedules are
/// for measuring what that saves.
package enum SumSchedule: Hashable, Sendable {
    /// During the step.
    case prompt
    /// When the first of them is waited for: after the backward pass.
    case afterBackward
    /// Not at all: values stay those of this rank.
    case never
}

/// When a step requested its sums.
package struct SumTimes: Sendable {
    package struct Start: Sendable {
        /// The number of values.
        package let count: Int
        package let time: ContinuousClock.Instant
    }

    /// In the order in which they were started.
    package fileprivate(set) var starts: [Start] = []
    /// When the first one was waited for.
    package fileprivate(set) var firstWait: ContinuousClock.Instant?
    /// When the last one had been waited for.
    package internal(set) var end: ContinuousClock.Instant?
}

/// The sums of a rank that have been started but not waited for.
struct StartedSums {
    var schedule = SumSchedule.prompt
    /// Nil unless a step is measured.
    var times: SumTimes?
    /// By channel.
    var orders: [Int: Messenger.Order] = [:]
    /// To be started when the first sum is waited for.
    var delayed: [Messenger.Order] = []

    /// - Parameter count: the number of values.
    /// - Returns: when to send them.
    mutating func note(start count: Int) -> SumSchedule {
        times?.starts.append(SumTimes.Start(count: count, time: .now))
        return schedule
    }

    /// The order of a channel that is waited for, after the delayed ones are started.
    mutating func take(_ channel: Int, _ messenger: Messenger) -> Messenger.Order? {
        if times?.firstWait == nil { times?.firstWait = .now }
        for order in delayed { messenger.start(order) }
        delayed = []
        return orders.removeValue(forKey: channel)
    }
}
