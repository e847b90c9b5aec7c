public import RetintArchitectures
public import RetintEngine
public import RetintPhotoData

/// Everything that determines how a network is trained.
///
/// Each property is a key of the YAML file; see ``fields`` for keys, ranges and help. Values are
/// checked when text is read, and before training starts.
public struct TrainingConfiguration: Hashable, Sendable {
    /// Rounding in the forward pass, as in the quantization of packages (quantization-aware
    /// training).
    public enum Quantization: String, CaseIterable, Hashable, Sendable {
        /// No rounding, or rounding of weights to 8 or 4 bits.
        case none, int8, int4
        /// Also rounding of the inputs of convolutions and linear layers to 8 bits, in ranges that
        /// are trained.
        case w8a8, w4a8
    }

    /// The format in which ranks send each other gradients.
    public enum GradientCompression: String, CaseIterable, Hashable, Sendable {
        /// float32, or float16 with error feedback.
        case none, float16
    }

    /// The examples that batch normalization uses if several ranks train together.
    public enum BatchNorm: String, CaseIterable, Hashable, Sendable {
        /// The examples of each rank.
        case perRank = "per_rank"
        /// The examples of all ranks.
        case synchronized
    }

    /// The name of the network's architecture.
    public var architecture = "mobile-unet"
    /// The options of the architecture.
    public var network = ColorizerOptions()
    /// The path of a checkpoint to start from; nil: new weights drawn with ``seed``.
    public var start: String?
    /// The folder of the run.
    public var output = "Runs/training"
    /// The seed of weights and data.
    public var seed = 0
    /// What computes.
    public var device = Execution.Device.cpu
    /// Threads of the engine; nil: all processors.
    public var threads: Int?
    /// Whether activations are computed again in the backward pass: less memory, more time.
    public var recompute = false
    /// Whether the algorithms of convolutions that this machine has not measured yet are measured
    /// before the first step, and kept (see ``KernelFile``). The measured ones round differently.
    public var tune = false
    /// The format in which convolutions multiply if the processor is faster in it. Weights,
    /// their gradients and the optimizer are in float32.
    public var compute = Arithmetic.float32
    /// The formats that weights, and the inputs of layers, are rounded to.
    public var quantization = Quantization.none
    /// Patterns of parameters that are not trained, separated by spaces: `stem.* stage2.*`.
    public var freeze: String?
    /// Crops per step, of all ranks together.
    public var batch = 16
    /// Crops per step on each rank, which then determine ``batch``; nil: ``batch`` is split.
    public var batchPerRank: Int?
    /// The examples that batch normalization uses if several ranks train together.
    public var batchNorm = BatchNorm.perRank
    /// The format in which ranks send each other gradients.
    public var gradientCompression = GradientCompression.none
    /// Steps whose gradients are averaged before weights change. At the end, steps that are fewer
    /// have no effect.
    public var accumulate = 1
    /// Whether every step trains on the first batch: the loss must fall to almost zero.
    public var overfitOneBatch = false
    /// Whether to stop at the first value that is not finite and name the operation.
    public var anomaly = false
    /// The number of training steps.
    public var steps = 10_000
    /// The length of the training in epochs, instead of ``steps``; nil: as many steps as stated.
    public var epochs: Double?
    /// Steps per epoch; nil: once through all photos.
    public var epochSteps: Int?
    /// Minutes after which training ends, over all runs that resume it. Cosine and one-cycle
    /// schedules fall over this time if it ends before the steps do.
    public var timeLimit: Double?
    /// Steps between validations.
    public var validateEvery = 500
    /// Steps between saves of `last.h5`.
    public var saveEvery = 500
    /// The number of earlier checkpoints to keep in addition to `last.h5`, as `step-<n>.h5`.
    public var keepLast = 0
    /// Validations without a lower loss after which training ends.
    public var patience: Int?
    /// Steps between records of metrics.
    public var logEvery = 20
    /// Whether to write an event file for TensorBoard.
    public var tensorboard = true
    /// Photos, and how crops are made from them.
    public var data = DataSettings()
    /// The damage to the input lightness, as if photos were old; their colors
    /// stay.
    public var oldPhoto = OldPhotoSettings()
    /// Whether validation photos are damaged like training photos, each always in
    /// the same way.
    public var validatesOldPhotos = false
    /// The loss that is minimized.
    public var loss = LossSettings()
    /// The teacher model, and what is learned from it.
    public var distillation = DistillationSettings()
    /// How gradients update weights.
    public var optimizer = OptimizerSettings()
    /// The learning rate over the steps.
    public var schedule = ScheduleSettings()
    /// Where values were read.
    var origins = ConfigurationOrigins()

    /// The defaults; ``DataSettings/train`` must be set.
    public init() {}

    /// The network that the configuration names; an imported one is that of ``start``.
    var namedNetwork: NetworkDescription { .named(architecture, network) }
}
