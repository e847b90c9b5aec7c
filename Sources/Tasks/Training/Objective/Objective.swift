import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensors

/// The loss that training minimizes: the difference of predicted colors from those of the photo.
struct Objective {
    let loss: TrainingConfiguration.LossSettings
    private let network: any ColorizerNetwork
    private let hints: Bool
    private let perceptual: PerceptualLoss?
    /// The offset of the second view of the temporal term, in pixels along each axis.
    private static let shift = 4

    /// - Throws: ``TrainingError`` if the network does not have what the loss needs; the errors of
    ///   reading the checkpoint of the perceptual loss.
    init(_ network: any ColorizerNetwork, _ configuration: TrainingConfiguration) throws {
        (self.network, loss, hints) = (network, configuration.loss, configuration.data.hints)
        perceptual = try PerceptualLoss(configuration.loss)
        if loss.classifies, !(network is any ColorClassifier) {
            throw TrainingError(
                at:
                    "loss.kind",
                "\(network.architecture) has no distribution over colors to classify; use "
                    + "l1, mse or huber with loss.class_weight 0, or another architecture")
        }
        if hints, !(network is any HintedColorizer) {
            throw TrainingError(
                at:
                    "data.hints", "\(network.architecture) takes no hints; siggraph17 does")
        }
        if hints, loss.temporal > 0 {
            throw TrainingError(
                at:
                    "loss.temporal", "cannot be combined with data.hints; turn one of them off")
        }
    }

    /// The values of variables that are not trained, to be loaded in addition to the network's.
    var variables: [String: TensorData] { perceptual?.variables ?? [:] }

    /// The network's prediction for the input `lightness`.
    func prediction(_ graph: Graph, shape: Shape) -> ColorPrediction {
        let lightness = graph.input("lightness", shape)
        if hints, let hinted = network as? any HintedColorizer {
            let color = Shape([shape[0], 2, shape[2], shape[3]])
            return hinted.predictions(
                lightness, hints: graph.input("hints", color), mask: graph.input("mask", shape))
        }
        return network.prediction(lightness)
    }

    /// The loss of each example, [N], against the photo: inputs `target` and, for classification,
    /// `classes` and `class_weights`.
    func callAsFunction(_ prediction: ColorPrediction) -> Tensor {
        let graph = prediction.ab.graph
        let estimate = prediction.ab / LabScaling.colorRange
        var terms: [Tensor] = []
        if loss.kind != .classification {
            terms.append(
                loss.regression(
                    estimate, graph.input("target", estimate.shape), neutral: NeutralWeight(loss)))
        }
        if loss.classifies, let logits = prediction.logits {
            let weightShape = Shape([logits.shape[0], 1, logits.shape[2], logits.shape[3]])
            let entropy = crossEntropy(
                logits, graph.input("classes", logits.shape),
                weights: graph.input("class_weights", weightShape), reduction: .none
            ).meanOfExamples()
            terms.append(entropy * Float(loss.kind == .classification ? 1 : loss.classWeight))
        } else if loss.classifies {
            graph.record(
                ShapeError("has no class head; set class_head to true"), network.architecture, [])
        }
        if let perceptual {
            let lightness = graph.input("lightness", prediction.lightnessShape)
            terms.append(
                perceptual(
                    lightness, estimate, graph.input("target", estimate.shape))
                    * Float(loss.perceptual))
        }
        if loss.totalVariation > 0 {
            terms.append(totalVariation(estimate) * Float(loss.totalVariation))
        }
        return terms.dropFirst().reduce(terms[0], +)
    }
}

extension ColorPrediction {
    fileprivate var lightnessShape: Shape { [ab.shape[0], 1, ab.shape[2], ab.shape[3]] }
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

/// A prediction, and how much it changes when the camera moves a little.
struct SteadyPrediction {
    let colors: ColorPrediction
    /// The mean |difference| of ab/110 over the pixels that both views share, rank 0; nil if the
    /// objective does not use it.
    let temporalLoss: Tensor?
}

extension Objective {
    /// The network's prediction for the input `lightness`, and for a second view of it where the
    /// objective has a temporal term.
    ///
    /// Both views are in one batch, so that they share the statistics of batch normalization.
    func steadyPrediction(_ graph: Graph, shape: Shape) -> SteadyPrediction {
        guard loss.temporal > 0 else {
            return SteadyPrediction(colors: prediction(graph, shape: shape), temporalLoss: nil)
        }
        let lightness = graph.input("lightness", shape)
        let (count, height, width) = (shape[0], shape[2], shape[3])
        let (rows, columns) = (Self.shift..<height, Self.shift..<width)
        let moved = lightness.sliced(axis: 2, rows).sliced(axis: 3, columns)
        // The newly visible part is unknown: the edge is repeated.
        let below = moved.sliced(axis: 2, (height - 2 * Self.shift)..<(height - Self.shift))
        let tall = concat([moved, below], axis: 2)
        let right = tall.sliced(axis: 3, (width - 2 * Self.shift)..<(width - Self.shift))
        let both = network.prediction(
            concat([lightness, concat([tall, right], axis: 3)], axis: 0))
        let first = ColorPrediction(
            ab: both.ab.sliced(axis: 0, 0..<count),
            logits: both.logits.map { $0.sliced(axis: 0, 0..<count) })
        let second = both.ab.sliced(axis: 0, count..<(2 * count))
        let expected = first.ab.sliced(axis: 2, rows).sliced(axis: 3, columns)
        let found = second.sliced(axis: 2, 0..<(height - Self.shift))
            .sliced(axis: 3, 0..<(width - Self.shift))
        return SteadyPrediction(
            colors: first, temporalLoss: abs(found - expected).mean() / LabScaling.colorRange)
    }
}

extension TrainingConfiguration.LossSettings {
    /// Whether the loss compares distributions over bins.
    var classifies: Bool { kind == .classification || classWeight > 0 }
}
