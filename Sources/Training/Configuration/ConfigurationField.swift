import Colorizers

/// One key of a configuration: `data.crop`.
package struct ConfigurationField {
    package let key: String
    /// What the key takes, to follow "takes".
    package let wanted: String
    package let help: String
    /// Sets the value from its text, nil for YAML's null; false if it does not fit.
    let read: (inout TrainingConfiguration, String?) -> Bool
    /// The value's text.
    package let text: (TrainingConfiguration) -> String

    private init<Value: ConfigurationValue>(
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
        text = { $0[keyPath: path]?.configurationText ?? "null" }
    }

    /// All keys, in the order in which a file lists them.
    package static var all: [ConfigurationField] {
        general + dataFields + lossFields + distillationFields + optimizerFields + scheduleFields
    }

    private static var general: [ConfigurationField] {
        [
            .init("architecture", \.architecture, .words(colorizerNames), "the network"),
            .init("width", \.network.width, .range(0.0625...4), "a factor for its channels"),
            .init("depth", \.network.depth, .range(0.25...4), "a factor for its repeated blocks"),
            .init(
                "decoder_width", \.network.decoderWidth, .range(0.0625...4),
                "one more for the channels of a lite network's decoder"),
            .init(
                "temperature", optional: \.network.temperature, .range(0.05...10),
                "divides a classifying network's logits; null: what the network says"),
            .init(
                "saturation", \.network.saturation, .range(0...4),
                "a factor for a classifying network's a and b"),
            .init("class_head", \.network.hasClassHead, .any, "SIGGRAPH17 with its class head"),
            .init("init", optional: \.start, .path("a checkpoint"), "weights to start from"),
            .init("output", \.output, .path("a folder"), "where the run is kept"),
            .init("seed", \.seed, .range(0...Int.max), "for weights and data"),
            .init("threads", optional: \.threads, .range(1...1024), "null: all processors"),
            .init(
                "recompute", \.recompute, .any,
                "computes activations twice: less memory, more time"),
            .init(
                "quantization", \.quantization, .any,
                "weights are rounded as retint quantize --weights will do it"),
            .init(
                "freeze", optional: \.freeze, .path("names of parameters"),
                "parameters that are not learned, with * for any characters: \"stem.* stage2.*\""),
            .init("batch", \.batch, .range(1...4096), "crops a step"),
            .init(
                "accumulate", \.accumulate, .range(1...10_000),
                "steps whose gradients are averaged before weights change"),
            .init(
                "overfit_one_batch", \.overfitOneBatch, .any,
                "trains on the first batch alone: the loss must go to nearly nothing"),
            .init(
                "anomaly", \.anomaly, .any,
                "stops at the first number that is not finite and names the operation"),
            .init("steps", \.steps, .range(1...1_000_000_000), "length of the training"),
            .init(
                "epoch_steps", optional: \.epochSteps, .range(1...1_000_000_000),
                "null: once through all photos"),
            .init(
                "time_limit", optional: \.timeLimit, .range(0.001...1e6),
                "minutes after which the run ends"),
            .init("validate_every", \.validateEvery, .range(1...1_000_000_000), "in steps"),
            .init("save_every", \.saveEvery, .range(1...1_000_000_000), "in steps"),
            .init(
                "keep_last", \.keepLast, .range(0...10_000),
                "checkpoints to keep beside last.h5, as step-<n>.h5"),
            .init(
                "patience", optional: \.patience, .range(1...1_000_000),
                "validations without a better loss after which the run ends"),
            .init("log_every", \.logEvery, .range(1...1_000_000_000), "in steps"),
            .init("tensorboard", \.tensorboard, .any, "writes what TensorBoard shows"),
        ]
    }

    private static var dataFields: [ConfigurationField] {
        [
            .init("data.train", \.data.train, .path("a folder of photos"), "photos"),
            .init(
                "data.validation", optional: \.data.validation, .path("a folder of photos"),
                "null: a part of the photos to train on"),
            .init(
                "data.validation_fraction", \.data.validationFraction, .range(0...0.9),
                "that part"),
            .init(
                "data.validation_photos", \.data.validationPhotos, .range(1...100_000),
                "at most so many"),
            .init("data.crop", \.data.crop, .range(32...2048), "side in pixels"),
            .init(
                "data.minimum_scale", \.data.minimumScale, .range(0.05...1),
                "smallest crop, as a share of the short side"),
            .init("data.flip", \.data.flip, .any, "mirrors every other crop"),
            .init(
                "data.lightness", \.data.lightness, .range(0...0.5),
                "shifts L up or down by at most this share of its range"),
            .init(
                "data.contrast", \.data.contrast, .range(0...0.9),
                "stretches L about its middle by at most this share"),
            .init(
                "data.cutouts", optional: \.data.cutouts, .path("a folder of cut-outs"),
                "objects on a transparent ground, to be laid over crops"),
            .init(
                "data.cutout_share", \.data.cutoutShare, .range(0...1),
                "of how many crops, where there are cut-outs"),
            .init(
                "data.hints", \.data.hints, .any,
                "tells the color of some pixels, as siggraph17 learns it"),
            .init(
                "data.cache_megabytes", \.data.cacheMegabytes, .range(0...1_000_000),
                "decoded photos to keep"),
            .init(
                "data.loader_threads", \.data.loaderThreads, .range(1...64),
                "threads that prepare batches"),
        ]
    }

    private static var lossFields: [ConfigurationField] {
        [
            .init(
                "loss.kind", \.loss.kind, .any,
                "of ab/110; classification: of the distribution over ab bins"),
            .init("loss.delta", \.loss.delta, .range(1e-6...10), "where huber turns linear"),
            .init(
                "loss.saturation", \.loss.saturation, .range(0...100),
                "colorful pixels weigh 1 + this·|ab|/110"),
            .init(
                "loss.class_weight", \.loss.classWeight, .range(0...1e6),
                "adds this much of classification to l1, mse or huber"),
            .init(
                "loss.neighbors", \.loss.neighbors, .range(1...313),
                "bins that the target of a classification is spread over"),
            .init("loss.sigma", \.loss.sigma, .range(0.1...100), "how widely, in units of ab"),
            .init(
                "loss.rebalance", optional: \.loss.rebalance, .range(0...1),
                "rare colors count more: by 1/((1 − this)·p + this/bins); null: all alike"),
            .init(
                "loss.perceptual", \.loss.perceptual, .range(0...1e6),
                "adds this much of the squared difference of what a colorizer sees in both"),
            .init(
                "loss.perceptual_network", optional: \.loss.perceptualNetwork,
                .path("a checkpoint"), "that colorizer: one that takes hints, such as siggraph17"),
            .init(
                "loss.perceptual_modules", \.loss.perceptualModules, .path("names of modules"),
                "where it is looked at"),
            .init(
                "loss.total_variation", \.loss.totalVariation, .range(0...1e6),
                "adds this much of neighbors' differences"),
            .init(
                "loss.temporal", \.loss.temporal, .range(0...1e6),
                "adds this much of what changes when the picture moves by 4 pixels; for video"),
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
                "the share at the end, changing steadily; null: as at the start"),
            .init(
                "distillation.logits", \.distillation.logits, .range(0...1e6),
                "adds this much of classification by the teacher's distribution"),
            .init(
                "distillation.temperature", \.distillation.temperature, .range(0.05...100),
                "divides both networks' logits there"),
            .init(
                "distillation.features", optional: \.distillation.features, .path("pairs"),
                "modules whose outputs shall be alike, with the teacher's: \"up8=up8 context\""),
            .init(
                "distillation.feature_weight", \.distillation.featureWeight, .range(0...1e6),
                "adds this much of their mean squared difference"),
        ]
    }

    private static var optimizerFields: [ConfigurationField] {
        [
            .init("optimizer.kind", \.optimizer.kind, .any, "the rule"),
            .init(
                "optimizer.learning_rate", \.optimizer.learningRate, .range(1e-12...1e6),
                "before the schedule"),
            .init("optimizer.momentum", \.optimizer.momentum, .range(0...0.9999), "of sgd"),
            .init("optimizer.beta1", \.optimizer.beta1, .range(0...0.99999), "of adam"),
            .init("optimizer.beta2", \.optimizer.beta2, .range(0...0.999999), "of adam"),
            .init("optimizer.epsilon", \.optimizer.epsilon, .range(1e-30...1), "of adam"),
            .init(
                "optimizer.weight_decay", \.optimizer.weightDecay, .range(0...10),
                "apart from the gradient in adamw alone"),
            .init(
                "optimizer.clip_grad_norm", optional: \.optimizer.clipGradNorm,
                .range(1e-9...1e9), "largest norm of all gradients"),
            .init(
                "optimizer.ema", optional: \.optimizer.ema, .range(0...0.999999),
                "decay of averaged weights, which are validated and kept as best; grows to it "
                    + "as (1 + step)/(10 + step)"),
            .init(
                "optimizer.groups", optional: \.optimizer.groups, .path("groups"),
                "parameters with rates of their own: "
                    + "\"stem.*: rate=0.1 decay=0; head.*: rate=2 schedule=constant\""),
        ]
    }

    private static var scheduleFields: [ConfigurationField] {
        [
            .init("schedule.kind", \.schedule.kind, .any, "the learning rate's course"),
            .init(
                "schedule.warmup_steps", \.schedule.warmupSteps, .range(0...1_000_000_000),
                "linear rise"),
            .init(
                "schedule.final_share", \.schedule.finalShare, .range(0...1),
                "what cosine leaves"),
            .init(
                "schedule.every", \.schedule.every, .range(1...1_000_000_000),
                "steps between steps of the rate"),
            .init("schedule.factor", \.schedule.factor, .range(0.000001...1), "of step"),
        ]
    }
}
