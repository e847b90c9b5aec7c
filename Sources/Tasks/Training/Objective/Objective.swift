import RetintArchitectures
import RetintGraph
import RetintTensors

/// What training minimizes: a network's predictions, and the parts of the loss that compare them.
struct Objective {
    let network: any ColorizerNetwork
    private let usesHints: Bool
    private let parts: [PreparedLoss]
    /// Where the inputs of a step come from.
    var feed = StepFeed()

    /// - Parameters:
    ///   - distillation: nil where nothing is learned from a teacher.
    ///   - hints: whether the network is given color hints.
    ///   - seed: of the weights of a network that learns beside.
    /// - Throws: ``TrainingError`` if the network does not have what the loss needs; the errors of
    ///   reading the checkpoint of the perceptual loss.
    init(
        _ network: any ColorizerNetwork, _ loss: TrainingConfiguration.LossSettings,
        _ distillation: TrainingConfiguration.DistillationSettings = .init(), hints: Bool = false,
        seed: UInt64 = 0
    ) throws {
        if hints, !(network is any HintedColorizer) {
            throw TrainingError(
                at: "data.hints", "\(network.architecture) takes no hints; siggraph17 does")
        }
        let setup = LossSetup(network: network, loss: loss, hints: hints, seed: seed)
        let parts = try (loss.terms + distillation.terms).flatMap { try $0.prepared(setup) }
        self.init(network, parts, usesHints: hints)
    }

    private init(_ network: any ColorizerNetwork, _ parts: [PreparedLoss], usesHints: Bool) {
        (self.network, self.parts, self.usesHints) = (network, parts, usesHints)
    }

    /// As validation measures a network: against photos alone, without hints.
    var validated: Objective {
        let parts = parts.filter { $0.reference == .photo }
        var validated = Objective(network, parts, usesHints: false)
        validated.feed = feed
        validated.feed.needsLightness = true
        validated.feed.keptPixels = 0
        return validated
    }

    /// The values of variables that are not trained, to be loaded in addition to the network's.
    var variables: [String: TensorData] {
        parts.reduce(into: [:]) { all, part in all.merge(part.variables) { $1 } }
    }

    /// The first weights of the network that learns beside the colorizer; none without one.
    var opponentVariables: [String: TensorData] {
        parts.reduce(into: [:]) { all, part in
            all.merge(part.opponent?.variables ?? [:]) { $1 }
        }
    }

    /// What that network minimizes, rank 0.
    func opponentLoss(_ prediction: TrainingPrediction) -> Tensor? {
        let context = LossContext(prediction, teacher: [:], feed)
        let losses = parts.compactMap { $0.opponent?.loss(context) }
        return losses.first.map { losses.dropFirst().reduce($0, +) }
    }

    /// What the teacher has to provide, without repetition.
    var teacherInputs: [StepInput] {
        parts.flatMap(\.inputs).reduce(into: []) { all, input in
            if input.isOfTeacher, !all.contains(input) { all.append(input) }
        }
    }

    /// The network's prediction for the step's lightness, and for a second view of it where a part
    /// of the loss asks for one.
    ///
    /// Both views are in one batch, so that they share the statistics of batch normalization.
    ///
    /// - Parameter shape: of the lightness, [N, 1, H, W].
    func prediction(_ graph: Graph, shape: Shape) -> TrainingPrediction {
        let shapes = StepShapes(lightness: shape)
        func input(_ input: StepInput) -> Tensor { feed.tensor(input, graph, shapes) }
        let lightness = input(.lightness)
        if usesHints, let hinted = network as? any HintedColorizer {
            let colors = hinted.predictions(
                lightness, hints: input(.hints), mask: input(.mask))
            return TrainingPrediction(lightness: lightness, colors: colors)
        }
        guard let view = parts.lazy.compactMap(\.view).first else {
            return TrainingPrediction(lightness: lightness, colors: network.prediction(lightness))
        }
        let count = shape[0]
        let both = network.prediction(concat([lightness, view(lightness)], axis: 0))
        let first = ColorPrediction(
            ab: both.ab.sliced(axis: 0, 0..<count),
            logits: both.logits.map { $0.sliced(axis: 0, 0..<count) })
        let second = both.ab.sliced(axis: 0, count..<(2 * count))
        return TrainingPrediction(lightness: lightness, colors: first, secondView: second)
    }

    /// The loss of each example against the photo, [N].
    func photoLosses(_ prediction: TrainingPrediction) throws -> Tensor {
        // Without any part, the graph has recorded why.
        try sum(of: .photo, prediction) ?? prediction.colors.ab.meanOfExamples()
    }

    /// The mean loss of a training step, rank 0.
    ///
    /// - Parameter teacher: what the teacher provides.
    func loss(_ prediction: TrainingPrediction, teacher: [StepInput: Tensor]) throws -> Tensor {
        let own = try sum(of: .itself, prediction)
        var loss = try photoLosses(prediction).mean()
        if let ofTeacher = try sum(of: .teacher, prediction, teacher) {
            let share = loss.graph.variable(Self.teacherShare, [], role: .setting)
            loss = loss + (ofTeacher - loss) * share
        }
        return own.map { loss + $0 } ?? loss
    }

    /// The variable of the teacher's share of the loss, loaded before each step.
    static let teacherShare = "teacher_share"

    private func sum(
        of reference: PreparedLoss.Reference, _ prediction: TrainingPrediction,
        _ teacher: [StepInput: Tensor] = [:]
    ) throws -> Tensor? {
        let parts = parts.filter { $0.reference == reference }
        guard !parts.isEmpty else { return nil }
        let context = LossContext(prediction, teacher: teacher, feed)
        let terms = try parts.compactMap { try $0.build(context) }
        return terms.first.map { terms.dropFirst().reduce($0, +) }
    }
}

extension ColorizerNetwork {
    /// Colors, with the distribution that they are computed from, if the network has one.
    func prediction(_ lightness: Tensor) -> ColorPrediction {
        if let classifier = self as? any ColorClassifier {
            return classifier.predictions(lightness)
        }
        return ColorPrediction(ab: self(lightness), logits: nil)
    }
}
