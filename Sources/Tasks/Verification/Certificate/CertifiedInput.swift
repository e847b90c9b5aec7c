import RetintExport
public import RetintRuntime

/// The values that an input may have, for a certificate.
public struct CertifiedInput: Hashable, Sendable {
    /// The name of the input.
    public let name: String
    /// The lowest and the highest value: of each channel, or one for all.
    public let ranges: [ClosedRange<Float>]
    /// The values of the levels 0…255 of a picture, for each channel; empty if the input takes no
    /// pictures.
    public let levels: [[Float]]
    /// Whether all channels have the same level, as in a gray picture.
    public let isGray: Bool

    /// The values of an input that takes pictures.
    ///
    /// - Parameters:
    ///   - name: the name of the input.
    ///   - levels: the values of the levels 0…255, which ascend, for each channel.
    ///   - isGray: whether all channels have the same level.
    /// - Precondition: there are 256 levels for each channel.
    public init(name: String, levels: [[Float]], isGray: Bool) {
        precondition(!levels.isEmpty && levels.allSatisfy { $0.count == 256 })
        (self.name, self.levels, self.isGray) = (name, levels, isGray)
        ranges = levels.map { $0[0]...max($0[0], $0[255]) }
    }

    /// The values that an input has with random values of a distribution.
    ///
    /// - Parameters:
    ///   - input: the input.
    ///   - noise: the distribution; nil for the usual one, such as 0…100 for lightness.
    /// - Returns: nil if the distribution has no bounds.
    public init?(_ input: ModelInterface.Value, _ noise: InputNoise? = nil) {
        name = input.name
        (levels, isGray) = ([], false)
        switch noise ?? input.usualNoise {
        case .uniform(let lower, let upper), .natural(let lower, let upper):
            ranges = [lower...upper]
        case .integers(let first, let last): ranges = [Float(first)...Float(last)]
        case .normal: return nil
        }
    }
}
