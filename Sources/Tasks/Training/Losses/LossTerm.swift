import RetintArchitectures
import RetintGraph
import RetintTensors

/// A term of the loss: its settings with their keys, and its part of a training step's graph.
protocol LossTerm: ConfigurationSection, Hashable, Sendable {
    /// What the term adds to the loss of a network; none where the settings turn it off.
    ///
    /// - Throws: ``TrainingError`` if the network lacks what the term compares; the errors of
    ///   reading files.
    func prepared(_ setup: LossSetup) throws -> [PreparedLoss]
}

/// What a term knows before a graph is built.
struct LossSetup {
    let network: any ColorizerNetwork
    /// The settings of all terms, of which some share ``TrainingConfiguration/LossSettings/kind``
    /// and the weight of gray pixels.
    let loss: TrainingConfiguration.LossSettings
    /// Whether the network is given color hints.
    let hints: Bool
    /// Of initial weights.
    var seed: UInt64 = 0
}

/// A part of the loss that can be built into graphs.
struct PreparedLoss {
    /// What colors are compared with, which decides when a part counts.
    enum Reference {
        /// The photo. The part is a loss for each example, [N], and is validated as well.
        case photo
        /// The teacher: of rank 0. `distillation.weight` weighs its parts against the photo's.
        case teacher
        /// Anything else, in training alone: of rank 0.
        case itself
    }

    /// A second network, which is trained in the same steps for a loss of its own.
    struct Opponent {
        /// The weights that it starts with.
        let variables: [String: TensorData]
        /// What it minimizes: of rank 0.
        let loss: (LossContext) -> Tensor
    }

    let reference: Reference
    /// What the part reads beside the prediction.
    let inputs: [StepInput]
    /// The values of variables that are not trained, to be loaded beside the network's.
    var variables: [String: TensorData] = [:]
    /// A second view of the lightness, [N, 1, H, W] both, that the network is shown as well. Parts
    /// share one.
    var view: ((Tensor) -> Tensor)?
    /// A network that learns from the colorizer's colors.
    var opponent: Opponent?
    /// Adds the part to a graph; nil if the graph has recorded an error instead.
    let build: (LossContext) throws -> Tensor?
}

/// What parts of the loss can compare, in the graph of a step.
struct LossContext {
    let prediction: TrainingPrediction
    /// a and b divided by 110, [N, 2, H, W].
    let estimate: Tensor
    /// What the teacher provides.
    let teacher: [StepInput: Tensor]
    private let shapes: StepShapes
    private let feed: StepFeed

    init(
        _ prediction: TrainingPrediction, teacher: [StepInput: Tensor], _ feed: StepFeed
    ) {
        (self.prediction, self.teacher, self.feed) = (prediction, teacher, feed)
        estimate = prediction.colors.ab / LabScaling.colorRange
        shapes = StepShapes(
            lightness: prediction.lightness.shape, logits: prediction.colors.logits?.shape)
    }

    var graph: Graph { estimate.graph }

    /// An input of the step.
    ///
    /// - Precondition: the network, or the teacher, has it.
    subscript(input: StepInput) -> Tensor {
        teacher[input] ?? feed.tensor(input, graph, shapes)
    }
}

/// What a network predicts in a step.
struct TrainingPrediction {
    /// The network's input.
    let lightness: Tensor
    let colors: ColorPrediction
    /// a and b of the second view, [N, 2, H, W]; nil if no part of the loss asks for one.
    var secondView: Tensor?
}

extension Tensor {
    /// The mean of each example of [N, C, H, W]: [N].
    func meanOfExamples() -> Tensor { mean(axes: [1, 2, 3]) }
}
