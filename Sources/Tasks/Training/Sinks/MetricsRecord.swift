/// One line of `metrics.jsonl`; which values are present depends on ``kind``.
public struct MetricsRecord: Hashable, Sendable, Codable {
    /// `train` or `validation`.
    public var kind: String
    /// Steps done.
    public var step: Int
    /// Epochs done.
    public var epoch: Int
    /// The mean training loss since the last record.
    public var loss: Double?
    /// The learning rate of the last step.
    public var learningRate: Double?
    /// The mean norm of gradients over the updates of weights since the last record, before
    /// clipping; nil without an update.
    public var gradientNorm: Double?
    /// Crops trained on per second since the last record.
    public var imagesPerSecond: Double?
    /// The share of time that steps waited for their batch; with several ranks, the mean.
    public var waitingShare: Double?
    /// For each rank, the share of time that steps waited for other ranks; nil with one rank.
    public var communicationShares: [Double]?
    /// Steps skipped since the last record because their loss or gradient was not finite.
    public var skippedSteps: Int?
    /// The quality on the validation photos.
    public var validation: ValidationMetrics?

    enum CodingKeys: String, CodingKey {
        case kind, step, epoch, loss, validation
        case learningRate = "learning_rate"
        case gradientNorm = "gradient_norm"
        case imagesPerSecond = "images_per_second"
        case waitingShare = "waiting_share"
        case communicationShares = "communication_shares"
        case skippedSteps = "skipped_steps"
    }
}

/// The quality of a network on photos that it was not trained on.
public struct ValidationMetrics: Hashable, Sendable, Codable {
    /// The number of photos.
    public var photos: Int
    /// The mean loss.
    public var loss: Double
    /// The PSNR of RGB in dB, over the pixels of all photos together; nil if all are exact.
    public var psnr: Double?
    /// The mean CIEDE2000 color difference.
    public var deltaE2000: Double
    /// The mean Hasler–Süsstrunk colorfulness of the network's images.
    public var colorfulness: Double
    /// The mean colorfulness of the photos themselves.
    public var photoColorfulness: Double

    enum CodingKeys: String, CodingKey {
        case photos, loss, colorfulness
        case psnr = "psnr_db"
        case deltaE2000 = "delta_e2000"
        case photoColorfulness = "photo_colorfulness"
    }
}
