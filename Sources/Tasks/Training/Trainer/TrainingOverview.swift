public import RetintArchitectures

/// The network, the data and the memory of a training run, known before its first step.
public struct TrainingOverview: Hashable, Sendable {
    /// Steps done by the run that is resumed; 0 for a new one.
    public let firstStep: Int
    /// The number of training photos.
    public let photos: Int
    /// The number of validation photos.
    public let validationPhotos: Int
    /// Ranks that train together.
    public let ranks: Int
    /// Bytes of weights, gradients, optimizer state and activations that a step needs in memory.
    public let stepBytes: Int
    /// The network, module by module, on one crop.
    public let network: NetworkSummary
}
