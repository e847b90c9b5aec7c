import Colorizers
import Layers
import TensorGraph

/// What a training minimizes: how a network's answer is compared with the photo.
struct Objective {
    let loss: TrainingConfiguration.Loss
    private let network: any ColorizerNetwork
    private let hints: Bool
    private let perceptual: PerceptualLoss?
    /// Pixels, each way, that the second look of the temporal term is moved by.
    private static let shift = 4

    /// - Throws: ``ConfigurationError`` if the network cannot be trained so; what reading the
    ///   perceptual loss's network throws.
    init(_ network: any ColorizerNetwork, _ configuration: TrainingConfiguration) throws {
        (self.network, loss, hints) = (network, configuration.loss, configuration.data.hints)
        perceptual = try PerceptualLoss(configuration.loss)
        if loss.classifies, !(network is any ColorClassifier) {
            throw ConfigurationError(
                "loss.kind",
                "\(network.architecture) has no distribution over colors to classify with; take "
                    + "l1, mse or huber and loss.class_weight 0, or another architecture")
        }
        if hints, !(network is any HintedColorizer) {
            throw ConfigurationError(
                "data.hints", "\(network.architecture) takes no hints; siggraph17 does")
        }
        if hints, loss.temporal > 0 {
            throw ConfigurationError(
                "loss.temporal", "does not go together with data.hints; set one of them to 0")
        }
    }

    /// The values of variables that are not learned, to be loaded beside the network's.
    var variables: [String: TensorData] { perceptual?.variables ?? [:] }

    /// The network's answer to the input `lightness`.
    func prediction(_ graph: Graph, shape: Shape) -> ColorPrediction {
        let lightness = graph.input("lightness", shape)
        if hints, let hinted = network as? any HintedColorizer {
            let color = Shape([shape[0], 2, shape[2], shape[3]])
            return hinted.predictions(
                lightness, hints: graph.input("hints", color), mask: graph.input("mask", shape))
        }
        return network.prediction(lightness)
    }

    /// The loss of each example, [N], against the photo: inputs `target` and, where it classifies,
    /// `classes` and `class_weights`.
    func callAsFunction(_ prediction: ColorPrediction) -> Tensor {
        let graph = prediction.ab.graph
        let estimate = prediction.ab / Batch.abScale
        var terms: [Tensor] = []
        if loss.kind != .classification {
            terms.append(loss.regression(estimate, graph.input("target", estimate.shape)))
        }
        if loss.classifies, let logits = prediction.logits {
            let places = Shape([logits.shape[0], 1, logits.shape[2], logits.shape[3]])
            let entropy = crossEntropy(
                logits, graph.input("classes", logits.shape),
                weights: graph.input("class_weights", places), reduction: .none
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
    /// Colors, and the distribution that they come from where the network has one.
    func prediction(_ lightness: Tensor) -> ColorPrediction {
        if let classifier = self as? any ColorClassifier {
            return classifier.predictions(lightness)
        }
        return ColorPrediction(ab: self(lightness), logits: nil)
    }
}

/// Video.
extension Objective {
    /// The network's answer, and how much it changes when the camera moves a little: the mean
    /// |difference| of what both looks have in common, of ab/110.
    ///
    /// One batch holds both looks, so that both see the same batch normalization.
    func steadyPrediction(
        _ graph: Graph, shape: Shape
    ) -> (prediction: ColorPrediction, unsteadiness: Tensor?) {
        guard loss.temporal > 0 else { return (prediction(graph, shape: shape), nil) }
        let lightness = graph.input("lightness", shape)
        let (count, height, width) = (shape[0], shape[2], shape[3])
        let (rows, columns) = (Self.shift..<height, Self.shift..<width)
        let moved = lightness.sliced(axis: 2, rows).sliced(axis: 3, columns)
        // What comes into view is not known: the edge is repeated.
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
        return (first, abs(found - expected).mean() / Batch.abScale)
    }
}

extension TrainingConfiguration.Loss {
    /// Whether a distribution over bins is part of it.
    var classifies: Bool { kind == .classification || classWeight > 0 }
}
