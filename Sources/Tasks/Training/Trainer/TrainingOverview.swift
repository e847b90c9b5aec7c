public import RetintArchitectures

/// What a training works on, known before its first step.
public struct TrainingOverview: Hashable, Sendable {
    /// Steps done by the run that is resumed; 0 for a new one.
    public let firstStep: Int
    /// Photos to train on.
    public let photos: Int
    /// Photos to validate with.
    public let validationPhotos: Int
    /// Ranks that train together.
    public let ranks: Int
    /// Bytes of weights, gradients, optimizer state and activations that a step keeps in memory.
    public let stepBytes: Int
    /// The network, module by module, on one crop.
    public let network: NetworkSummary
}
