import RetintArchitectures

/// A key of a training configuration, such as `data.crop`.
public struct ConfigurationField {
    /// The key, with its section before a dot.
    public let key: String
    /// The allowed values, such as "a whole number from 32 to 2048".
    public let wanted: String
    /// A short description of the key.
    public let help: String
    /// Sets the value from its text, nil for YAML's null; returns false if it is out of range.
    let read: (inout TrainingConfiguration, String?) -> Bool
    /// Whether the value in a configuration is allowed.
    let isInRange: (TrainingConfiguration) -> Bool
    /// The value in a configuration, as written in YAML.
    public let text: (TrainingConfiguration) -> String

    init<Value: ConfigurationValue>(
        _ key: String, _ path: WritableKeyPath<TrainingConfiguration, Value>,
        _ rule: ConfigurationRule<Value>, _ help: String
    ) {
        (self.key, self.help, wanted) = (key, help, rule.wanted)
        read = { configuration, text in
            guard let text, let value = Value(configurationText: text), rule.allows(value) else {
                return false
            }
            configuration[keyPath: path] = value
            return true
        }
        isInRange = { rule.allows($0[keyPath: path]) }
        text = { $0[keyPath: path].configurationText }
    }

    private init<Value: ConfigurationValue>(
        _ key: String, optional path: WritableKeyPath<TrainingConfiguration, Value?>,
        _ rule: ConfigurationRule<Value>, _ help: String
    ) {
        (self.key, self.help, wanted) = (key, help, "\(rule.wanted), or null")
        read = { configuration, text in
            let value = text.flatMap { Value(configurationText: $0) }
            guard text == nil || value.map(rule.allows) == true else { return false }
            configuration[keyPath: path] = value
            return true
        }
        isInRange = { $0[keyPath: path].map(rule.allows) ?? true }
        text = { $0[keyPath: path]?.configurationText ?? "null" }
    }

    /// An option of the network.
    private init(_ option: ArchitectureOption) {
        (key, wanted) = (option.name, option.values)
        let fallback = option.isOptional ? "; null: the architecture's own" : ""
        help = "\(option.meaning)\(option.owners)\(fallback)"
        read = { configuration, text in
            var options = configuration.network
            guard option.set(text, in: &options), option.isInRange(options) else { return false }
            configuration.network = options
            return true
        }
        isInRange = { option.isInRange($0.network) }
        text = { option.text(in: $0.network) ?? "null" }
    }

    /// All keys, in the order of the YAML file.
    static var all: [ConfigurationField] {
        general + dataFields + oldPhotoFields + lossFields + distillationFields + optimizerFields
            + scheduleFields
    }

    private static var general: [ConfigurationField] {
        let imported = ImportedColorizer.architecture
        let architecture = Self(
            "architecture", \.architecture, .words(colorizerNames + [imported]),
            "the network; \(imported): the one that init holds")
        return [architecture]
            + ColorizerOptions.table.filter(\.isTrainable).map(Self.init) + runFields
    }

    private static var runFields: [ConfigurationField] {
        [
            .init("init", optional: \.start, .path("a checkpoint"), "weights to start from"),
            .init("output", \.output, .path("a folder"), "the folder of the run"),
            .init("seed", \.seed, .range(0...Int.max), "seed of initial weights and data"),
            .init(
                "threads", optional: \.threads, .range(1...1024), "threads; null: all processors"),
            .init(
                "recompute", \.recompute, .any,
                "computes activations again in the backward pass: less memory, more time"),
            .init(
                "compute", \.compute, .any,
                "the format in which convolutions multiply; weights and updates are in float32"),
            .init(
                "quantization", \.quantization, .any,
                "rounds weights in the forward pass (quantization-aware training)"),
            .init(
                "freeze", optional: \.freeze, .path("names of parameters"),
                "parameters that are not trained, with * for any characters: \"stem.* stage2.*\""),
            .init("batch", \.batch, .range(1...4096), "crops per step, of all ranks together"),
            .init(
                "batch_per_rank", optional: \.batchPerRank, .range(1...4096),
                "crops per step on each rank, instead of batch; null: batch is shared out"),
            .init(
                "batch_norm", \.batchNorm, .any,
                "normalizes with the crops of each rank, or of all"),
            .init(
                "gradient_compression", \.gradientCompression, .any,
                "rounds gradients that ranks send; the error is added to the next step's"),
            .init(
                "accumulate", \.accumulate, .range(1...10_000),
                "steps whose gradients are averaged before weights change"),
            .init(
                "overfit_one_batch", \.overfitOneBatch, .any,
                "trains on the first batch only: the loss must fall to almost zero"),
            .init(
                "anomaly", \.anomaly, .any,
                "stops at the first value that is not finite and names the operation"),
            .init("steps", \.steps, .range(1...1_000_000_000), "number of training steps"),
            .init(
                "epoch_steps", optional: \.epochSteps, .range(1...1_000_000_000),
                "steps per epoch; null: each photo once"),
            .init(
                "time_limit", optional: \.timeLimit, .range(0.001...1e6),
                "minutes after which training ends"),
            .init(
                "validate_every", \.validateEvery, .range(1...1_000_000_000),
                "steps between validations"),
            .init(
                "save_every", \.saveEvery, .range(1...1_000_000_000),
                "steps between saves of last.h5"),
            .init(
                "keep_last", \.keepLast, .range(0...10_000),
                "earlier checkpoints to keep beside last.h5, as step-<n>.h5"),
            .init(
                "patience", optional: \.patience, .range(1...1_000_000),
                "validations without a lower loss after which training ends"),
            .init(
                "log_every", \.logEvery, .range(1...1_000_000_000),
                "steps between records of metrics"),
            .init("tensorboard", \.tensorboard, .any, "writes an event file for TensorBoard"),
        ]
    }

    private static var dataFields: [ConfigurationField] {
        [
            // Empty in the defaults: users add their own.
            .init("data.train", \.data.train, .any, "training photos"),
            .init(
                "data.validation", optional: \.data.validation, .path("a folder of photos"),
                "validation photos; null: a part of the training photos"),
            .init(
                "data.validation_fraction", \.data.validationFraction, .range(0...0.9),
                "the share of that part"),
            .init(
                "data.validation_photos", \.data.validationPhotos, .range(1...100_000),
                "largest number of validation photos"),
            .init("data.crop", \.data.crop, .range(CropSides.range), "side of a crop in pixels"),
            .init(
                "data.other_crops", optional: \.data.otherCrops, .any,
                "other sides: each step has crops of one of all, at random; null: none"),
            .init(
                "data.minimum_scale", \.data.minimumScale, .range(0.05...1),
                "smallest crop, as a share of the photo's short side"),
            .init(
                "data.minimum_area", optional: \.data.minimumArea, .range(0.01...1),
                "smallest crop as a share of the photo's area; null: squares by minimum_scale"),
            .init(
                "data.ratio", \.data.ratio, .range(1...4),
                "largest ratio of the sides of such crops, which are squeezed to squares"),
            .init("data.flip", \.data.flip, .any, "mirrors crops with probability 1/2"),
            .init(
                "data.lightness", \.data.lightness, .range(0...0.5),
                "largest shift of L, as a share of its range"),
            .init(
                "data.contrast", \.data.contrast, .range(0...0.9),
                "largest relative change of contrast of L"),
            .init(
                "data.exposure", \.data.exposure, .range(0...3),
                "largest change of the photo's exposure, in stops"),
            .init(
                "data.white_balance", \.data.whiteBalance, .range(0...1),
                "largest relative gain of red, green and blue in linear light"),
            .init(
                "data.gray_world", \.data.grayWorld, .range(0...1),
                "share of crops whose mean color is made gray"),
            .init(
                "data.cutouts", optional: \.data.cutouts, .path("a folder of cut-outs"),
                "objects on a transparent background, pasted into crops"),
            .init(
                "data.cutout_share", \.data.cutoutShare, .range(0...1),
                "share of crops that receive a cut-out"),
            .init(
                "data.cutout_grounds", \.data.cutoutGrounds, .range(0...1),
                "share of those on a plain white, gray or colored ground instead of the photo"),
            .init(
                "data.hints", \.data.hints, .any,
                "gives the color of some pixels as hints, for siggraph17"),
            .init(
                "data.shuffle_shards", optional: \.data.shuffleShards, .range(1...100_000),
                "shards of a packed dataset whose photos are shuffled together; null: all"),
            .init(
                "data.cache_megabytes", \.data.cacheMegabytes, .range(0...1_000_000),
                "size of the cache of decoded photos"),
            .init(
                "data.loader_threads", \.data.loaderThreads, .range(1...64),
                "threads that prepare batches"),
        ]
    }

    private static var lossFields: [ConfigurationField] {
        [
            .init(
                "loss.kind", \.loss.kind, .any,
                "compares ab/110; classification: distributions over ab bins"),
            .init("loss.delta", \.loss.delta, .range(1e-6...10), "where huber becomes linear"),
            .init(
                "loss.saturation", \.loss.chromaWeight, .range(0...100),
                "weights pixels by 1 + this·|ab|/110"),
            .init(
                "loss.class_weight", \.loss.classWeight, .range(0...1e6),
                "weight of classification beside l1, mse or huber"),
            .init(
                "loss.neighbors", \.loss.neighbors, .range(1...313),
                "bins that a target of classification is spread over"),
            .init(
                "loss.sigma", \.loss.sigma, .range(0.1...100),
                "standard deviation of that spread, in units of ab"),
            .init(
                "loss.rebalance", optional: \.loss.rebalance, .range(0...1),
                "weights rare colors more, by 1/((1 − this)·p + this/bins); null: all the same"),
            .init(
                "loss.neutral", \.loss.neutral, .range(0...100),
                "weights gray pixels by 1 + this, in regression and classification"),
            .init(
                "loss.neutral_chroma", \.loss.neutralChroma, .range(0.5...50),
                "chroma √(a² + b²) at which that weight has fallen to 1"),
            .init(
                "loss.perceptual", \.loss.perceptual, .range(0...1e6),
                "weight of the squared difference of a colorizer's features"),
            .init(
                "loss.perceptual_network", optional: \.loss.perceptualNetwork,
                .path("a checkpoint"), "that colorizer, which takes hints: siggraph17"),
            .init(
                "loss.perceptual_modules", \.loss.perceptualModules, .path("names of modules"),
                "modules whose outputs are the features"),
            .init(
                "loss.total_variation", \.loss.totalVariation, .range(0...1e6),
                "weight of the differences of neighboring pixels"),
            .init(
                "loss.temporal", \.loss.temporal, .range(0...1e6),
                "weight of the change of colors when the image moves by 4 pixels; for video"),
        ]
    }

    private static var distillationFields: [ConfigurationField] {
        [
            .init(
                "distillation.teacher", optional: \.distillation.teacher,
                .path("a checkpoint or a package"), "a model to learn from"),
            .init(
                "distillation.weight", \.distillation.weight, .range(0...1),
                "share of the loss that compares with the teacher instead of the photo"),
            .init(
                "distillation.final_weight", optional: \.distillation.finalWeight, .range(0...1),
                "that share at the last step, reached linearly; null: constant"),
            .init(
                "distillation.logits", \.distillation.logits, .range(0...1e6),
                "weight of the cross-entropy with the teacher's distribution"),
            .init(
                "distillation.temperature", \.distillation.temperature, .range(0.05...100),
                "temperature of both distributions"),
            .init(
                "distillation.features", optional: \.distillation.features, .path("pairs"),
                "modules whose outputs imitate the teacher's: \"up8=up8 context\""),
            .init(
                "distillation.feature_loss", \.distillation.featureLoss, .any,
                "compares values, or how alike two positions are, whatever the channels"),
            .init(
                "distillation.feature_weight", \.distillation.featureWeight, .range(0...1e6),
                "weight of their difference"),
        ]
    }

    private static var optimizerFields: [ConfigurationField] {
        [
            .init("optimizer.kind", \.optimizer.kind, .any, "optimizer"),
            .init(
                "optimizer.learning_rate", \.optimizer.learningRate, .range(1e-12...1e6),
                "learning rate, multiplied by the schedule"),
            .init(
                "optimizer.momentum", \.optimizer.momentum, .range(0...0.9999), "momentum of sgd"),
            .init(
                "optimizer.beta1", \.optimizer.beta1, .range(0...0.99999),
                "decay of adam's mean gradient"),
            .init(
                "optimizer.beta2", \.optimizer.beta2, .range(0...0.999999),
                "decay of adam's mean squared gradient"),
            .init(
                "optimizer.epsilon", \.optimizer.epsilon, .range(1e-30...1),
                "added to adam's divisor"),
            .init(
                "optimizer.weight_decay", \.optimizer.weightDecay, .range(0...10),
                "weight decay, decoupled from the gradient in adamw"),
            .init(
                "optimizer.clip_grad_norm", optional: \.optimizer.clipGradNorm,
                .range(1e-9...1e9), "largest norm of all gradients together; null: not clipped"),
            .init(
                "optimizer.ema", optional: \.optimizer.ema, .range(0...0.999999),
                "decay of averaged weights, which are validated and kept as best; rises to it "
                    + "as (1 + step)/(10 + step)"),
            .init(
                "optimizer.groups", optional: \.optimizer.groups, .path("groups"),
                "parameters with settings of their own: "
                    + "\"stem.*: rate=0.1 decay=0; head.*: rate=2 schedule=constant\""),
        ]
    }

    private static var scheduleFields: [ConfigurationField] {
        [
            .init("schedule.kind", \.schedule.kind, .any, "curve of the learning rate"),
            .init(
                "schedule.warmup_steps", \.schedule.warmupSteps, .range(0...1_000_000_000),
                "steps of linear rise"),
            .init(
                "schedule.final_share", \.schedule.finalShare, .range(0...1),
                "share of the rate at the end of cosine and one-cycle"),
            .init(
                "schedule.every", \.schedule.every, .range(1...1_000_000_000),
                "steps between changes by the step schedule"),
            .init(
                "schedule.factor", \.schedule.factor, .range(0.000001...1),
                "factor of each change"),
        ]
    }
}
