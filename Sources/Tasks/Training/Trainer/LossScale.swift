/// The factor of the loss, and so of all gradients, in a training in float16: small gradients,
/// which float16 would lose, become larger. It is halved after a step in which large ones overflow
/// (Micikevicius et al., "Mixed Precision Training", 2018; the numbers are those of
/// `torch.amp.GradScaler`).
struct LossScale: Hashable, Sendable, Codable {
    /// A power of two: gradients are divided by it without rounding.
    private(set) var value: Float = 65_536
    /// Steps in a row since it changed.
    private var steps = 0

    private static let range: ClosedRange<Float> = 1...16_777_216
    private static let stepsToGrow = 2000

    /// Counts a step.
    ///
    /// - Parameter isFinite: whether all gradients were finite.
    mutating func count(isFinite: Bool) {
        steps += 1
        guard !isFinite || steps == Self.stepsToGrow else { return }
        value = min(max(value * (isFinite ? 2 : 0.5), Self.range.lowerBound), Self.range.upperBound)
        steps = 0
    }

    /// Whether a smaller one can still help.
    var canFall: Bool { value > Self.range.lowerBound }

    /// Whether it is one that a run can have.
    var isValid: Bool { Self.range.contains(value) && (0..<Self.stepsToGrow).contains(steps) }
}
