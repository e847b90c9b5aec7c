import RetintArchitectures
import RetintDistributed
import RetintEngine
import RetintGraph
import RetintPhotoData
import RetintRuntime
import RetintTensors

/// What each part of a training needs to know; none is given the whole configuration.
extension TrainingConfiguration {
    var batchOptions: BatchOptions {
        BatchOptions(
            data: data, oldPhoto: oldPhoto, batch: batch, seed: UInt64(seed),
            epochSteps: epochSteps, repeatsFirst: overfitOneBatch)
    }

    /// - Parameter groups: those of ``stepSchedule()``.
    func stepOptions(_ groups: [ParameterGroupRule]) -> StepOptions {
        var options = execution.compileOptions
        options.recomputes = recompute
        options.arithmetic = compute
        if tune { options.tuner = KernelTuner(KernelFile.read()) }
        return StepOptions(
            batch: batch, quantization: quantization,
            synchronizesBatchNorm: batchNorm == .synchronized,
            gradientCompression: gradientCompression, teacher: distillation.teacher,
            updates: UpdateOptions(
                optimizer: optimizer, groups: groups, freeze: freeze, accumulate: accumulate),
            compile: options, forward: execution)
    }

    var validationOptions: ValidationOptions {
        ValidationOptions(
            side: data.crop, batch: batch, oldPhoto: validatesOldPhotos ? oldPhoto : .init(),
            quantization: quantization, execution: execution)
    }

    /// - Throws: ``TrainingError`` if the text of ``OptimizerSettings/groups`` is malformed, if a
    ///   schedule rises twice, or if the training ends before its first update.
    func stepSchedule() throws(TrainingError) -> StepSchedule {
        guard !schedule.risesTwice else {
            throw TrainingError(
                at: "schedule.warmup_steps",
                "is \(schedule.warmupSteps), and one-cycle has a rise of its own; set it to 0, or "
                    + "choose another schedule.kind")
        }
        guard accumulate <= steps else {
            throw TrainingError(
                at: "accumulate",
                "is \(accumulate), so weights would first change after the last of "
                    + "\(steps) steps; lower it, or train for more steps")
        }
        let listed = try ParameterGroupRule.list(optimizer.groups ?? "", schedule: schedule)
        let rest = ParameterGroupRule(patterns: [ParameterPattern("*")], schedule: schedule)
        return StepSchedule(
            optimizer: optimizer, schedule: schedule, groups: listed + [rest],
            distillation: distillation, steps: steps, accumulate: accumulate)
    }

    /// How programs of a training are compiled.
    var execution: Execution { Execution(device: device, threads: threads) }
}

extension TrainingConfiguration {
    /// This configuration with the batch that the ranks split.
    ///
    /// - Throws: ``TrainingError`` for a value out of range, or a batch with less than one crop per
    ///   rank.
    func shared(over ranks: Communicator) throws(TrainingError) -> TrainingConfiguration {
        var result = self
        if let batchPerRank {
            result.batch = batchPerRank.multipliedReportingOverflow(by: ranks.size).partialValue
        }
        try result.requireValuesInRange()
        guard result.batch >= ranks.size else {
            throw TrainingError(
                at: "batch",
                "is \(result.batch), less than one crop for each of \(ranks.size) ranks; raise it, "
                    + "or start fewer ranks")
        }
        guard !tune || ranks.size == 1 else {
            throw TrainingError(
                at: "tune",
                "is true, and each of \(ranks.size) ranks would choose others; leave it out, or "
                    + "train with one rank")
        }
        return result
    }
}

extension TrainingConfiguration {
    /// Checks that a network takes crops of all sides.
    func checkSides(for network: any ColorizerNetwork) throws(TrainingError) {
        for side in data.sides {
            let key = side == data.crop ? "data.crop" : "data.other_crops"
            if let only = network.onlySize, only != Pair(side, side) {
                throw TrainingError(
                    at: key,
                    "is \(side); this \(network.architecture) takes \(only.width) × \(only.height) "
                        + "alone")
            }
            let multiple = network.requiredMultiple
            guard side.isMultiple(of: multiple) else {
                throw TrainingError(
                    at: key,
                    "is \(side); \(network.architecture) takes multiples of \(multiple), "
                        + "such as \(max(side / multiple, 1) * multiple)")
            }
        }
    }
}

extension TrainingConfiguration {
    /// This configuration with the steps of its epochs.
    ///
    /// - Parameter photos: the number of training photos.
    /// - Throws: ``TrainingError`` if they are too many.
    func counted(photos: Int) throws(TrainingError) -> TrainingConfiguration {
        guard let epochs else { return self }
        let epoch = epochSteps.map(Double.init) ?? Double(photos) / Double(batch)
        var result = self
        guard let steps = Int(exactly: (epochs * epoch).rounded(.up)) else {
            throw TrainingError(at: "epochs", "is \(epochs), which are too many steps; lower it")
        }
        result.steps = max(steps, 1)
        try result.requireValuesInRange()
        return result
    }
}

/// How batches are made.
struct BatchOptions {
    let data: TrainingConfiguration.DataSettings
    let oldPhoto: OldPhotoSettings
    /// Crops a step, of all ranks together.
    let batch: Int
    let seed: UInt64
    /// Steps an epoch; nil: once through all photos.
    let epochSteps: Int?
    /// Whether every step is given the first batch.
    let repeatsFirst: Bool
}

/// How a training step is computed.
struct StepOptions {
    /// Crops a step, of all ranks together.
    let batch: Int
    let quantization: TrainingConfiguration.Quantization
    let synchronizesBatchNorm: Bool
    let gradientCompression: TrainingConfiguration.GradientCompression
    /// The path of the model to learn from; nil: none.
    let teacher: String?
    let updates: UpdateOptions
    let compile: CompileOptions
    /// How a forward pass alone runs, as the teacher's.
    let forward: Execution
}

/// How the weights of a network are measured on photos.
struct ValidationOptions {
    /// Of a crop, in pixels.
    let side: Int
    /// The most crops at a time.
    let batch: Int
    /// The damage of what the network sees; its colors are put onto the crops themselves.
    let oldPhoto: OldPhotoSettings
    let quantization: TrainingConfiguration.Quantization
    let execution: Execution
}

extension TrainingConfiguration.Quantization {
    private var weightRounding: WeightRounding? {
        switch self {
        case .none: nil
        case .int8, .w8a8: WeightRounding(bits: 8)
        case .int4, .w4a8: WeightRounding(bits: 4)
        }
    }

    /// Whether the inputs of layers are rounded.
    var roundsInputs: Bool { self == .w8a8 || self == .w4a8 }

    /// Lets the layers of a graph round.
    func apply(to graph: Graph) {
        graph.weightRounding = weightRounding
        graph.inputRounding = roundsInputs ? .learned : nil
    }
}
