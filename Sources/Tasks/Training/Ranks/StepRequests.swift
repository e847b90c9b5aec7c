/// Requests of ranks before a step, known to all after it: they are sent with the gradients.
struct StepRequests: Hashable, Sendable {
    /// Whether to stop and save.
    var stops = false
    /// Whether the time is up.
    var isTimeUp = false

    init(stops: Bool = false, isTimeUp: Bool = false) {
        (self.stops, self.isTimeUp) = (stops, isTimeUp)
    }

    /// - Parameter sums: the sums of ``scalars`` over all ranks.
    init(sums: [Float]) { (stops, isTimeUp) = (sums[0] > 0, sums[1] > 0) }

    var scalars: [Float] { [stops ? 1 : 0, isTimeUp ? 1 : 0] }
}
