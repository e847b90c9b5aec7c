@testable import RetintEngine

extension Program {
    /// The names of a run's steps, in order.
    var stepNames: [String] { steps.map(\.kernel.name) }
}
