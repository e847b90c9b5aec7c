import RetintArchitectures
import RetintPhotoData

extension TrainingConfiguration {
    /// A key of a training configuration, such as `data.crop`.
    public struct Field {
        /// The key, with its section before a dot.
        public let key: String
        /// The allowed values, such as "a whole number from 32 to 2048".
        public let wanted: String
        /// A short description of the key.
        public let help: String
        /// What is between the items of a value that may also be written as a YAML list; nil: it
        /// may not.
        let separator: String?
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
            separator = rule.separator
            read = { configuration, text in
                guard let text, let value = Value(configurationText: text), rule.allows(value)
                else {
                    return false
                }
                configuration[keyPath: path] = value
                return true
            }
            isInRange = { rule.allows($0[keyPath: path]) }
            text = { $0[keyPath: path].configurationText }
        }

        init<Value: ConfigurationValue>(
            _ key: String, optional path: WritableKeyPath<TrainingConfiguration, Value?>,
            _ rule: ConfigurationRule<Value>, _ help: String
        ) {
            (self.key, self.help, wanted) = (key, help, "\(rule.wanted), or null")
            separator = rule.separator
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
            (key, wanted, separator) = (option.name, option.values, nil)
            let fallback = option.nullMeaning.map { "; null: \($0)" } ?? ""
            help = "\(option.meaning)\(option.owners)\(fallback)"
            read = { configuration, text in
                var options = configuration.network
                guard option.set(text, in: &options), option.isInRange(options) else {
                    return false
                }
                configuration.network = options
                return true
            }
            isInRange = { option.isInRange($0.network) }
            text = { option.text(in: $0.network) ?? "null" }
        }

        /// All keys, in the order of the YAML file.
        static var all: [TrainingConfiguration.Field] {
            general + TrainingConfiguration.DataSettings.fields + OldPhotoSettings.fields
                + TrainingConfiguration.LossSettings.fields
                + TrainingConfiguration.DistillationSettings.fields
                + TrainingConfiguration.OptimizerSettings.fields
                + TrainingConfiguration.ScheduleSettings.fields
        }

        /// The keys of a group, such as `data`; empty if there is no such group.
        static func keys(ofGroup group: String) -> [String] {
            all.map(\.key).filter { $0.hasPrefix(group + ".") }
        }

        private static var general: [TrainingConfiguration.Field] {
            let imported = ImportedColorizer.architecture
            let architecture = Self(
                "architecture", \.architecture, .words(colorizerNames + [imported]),
                "the network; \(imported): the network in init")
            return [architecture]
                + ColorizerOptions.table.filter(\.isTrainable).map(Self.init) + runFields
        }

        private static var runFields: [TrainingConfiguration.Field] {
            [
                .init("init", optional: \.start, .path("a checkpoint"), "weights to start from"),
                .init("output", \.output, .path("a folder"), "the folder of the run"),
                .init("seed", \.seed, .range(0...Int.max), "seed of initial weights and data"),
                .init(
                    "device", \.device, .any,
                    "what computes; reference: every operation in float64, much slower"),
                .init(
                    "threads", optional: \.threads, .range(1...1024),
                    "threads; null: all processors"),
                .init(
                    "recompute", \.recompute, .any,
                    "computes activations again in the backward pass: less memory, more time"),
                .init(
                    "tune", \.tune, .any,
                    "measures the fastest algorithm of each convolution before the first step, and "
                        + "keeps it for this machine; the last bits of results then differ"),
                .init(
                    "compute", \.compute, .any,
                    "the format in which convolutions multiply; auto: the fastest on this CPU; "
                        + "weights and updates are in float32"),
                .init(
                    "quantization", \.quantization, .any,
                    "rounds weights, and with a8 the inputs of layers in trained ranges, in the "
                        + "forward pass (quantization-aware training)"),
                .init(
                    "freeze", optional: \.freeze, .names("names of parameters"),
                    "parameters that are not trained, with * for any characters: "
                        + "\"stem.* stage2.*\", or a list of them"
                ),
                .init("batch", \.batch, .range(1...4096), "crops per step, of all ranks together"),
                .init(
                    "batch_per_rank", optional: \.batchPerRank, .range(1...4096),
                    "crops per step on each rank, instead of batch; null: batch is split"),
                .init(
                    "batch_norm", \.batchNorm, .any,
                    "normalizes with the crops of each rank, or of all ranks"),
                .init(
                    "gradient_compression", \.gradientCompression, .any,
                    "rounds gradients that ranks send; the error is added in the next step"),
                .init(
                    "accumulate", \.accumulate, .range(1...10_000),
                    "steps whose gradients are averaged before weights change; steps after the "
                        + "last change have no effect"),
                .init(
                    "overfit_one_batch", \.overfitOneBatch, .any,
                    "trains on the first batch only: the loss must fall to almost zero"),
                .init(
                    "anomaly", \.anomaly, .any,
                    "stops at the first value that is not finite and names the operation"),
                .init("steps", \.steps, .range(1...1_000_000_000), "number of training steps"),
                .init(
                    "epochs", optional: \.epochs, .range(0.001...1e6),
                    "the length of the training in epochs, instead of steps; null: steps"),
                .init(
                    "epoch_steps", optional: \.epochSteps, .range(1...1_000_000_000),
                    "steps per epoch; null: each photo once"),
                .init(
                    "time_limit", optional: \.timeLimit, .range(0.001...1e6),
                    "minutes after which training ends, those before a resume included; the "
                        + "schedule falls over them if the steps take longer"),
                .init(
                    "validate_every", \.validateEvery, .range(1...1_000_000_000),
                    "steps between validations"),
                .init(
                    "save_every", \.saveEvery, .range(1...1_000_000_000),
                    "steps between saves of last.h5"),
                .init(
                    "keep_last", \.keepLast, .range(0...10_000),
                    "earlier checkpoints to keep in addition to last.h5, as step-<n>.h5"),
                .init(
                    "patience", optional: \.patience, .range(1...1_000_000),
                    "validations without a lower loss after which training ends"),
                .init(
                    "log_every", \.logEvery, .range(1...1_000_000_000),
                    "steps between records of metrics"),
                .init("tensorboard", \.tensorboard, .any, "writes an event file for TensorBoard"),
            ]
        }
    }
}

/// Settings that have keys of their own.
protocol ConfigurationSection {
    /// The keys, in the order of the YAML file.
    static var fields: [TrainingConfiguration.Field] { get }
}
