import RetintCheckpoints
import RetintGraph
import RetintLayers
import RetintTensors

extension TrainingConfiguration {
    /// How well a discriminator tells estimated colors from those of photos: a small network that
    /// learns to do so in the same steps (Goodfellow et al., "Generative Adversarial Nets", 2014).
    public struct AdversarialLoss: LossTerm {
        /// The weight of the discriminator's doubt: −log of its probability that estimated colors
        /// are a photo's.
        public var weight = 0.0
        /// The channels of the discriminator's first convolution.
        public var width = 16

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "loss.adversarial", \.loss.adversarial.weight, .range(0...1e6),
                    "weight of the verdict of a discriminator, which learns beside the network; "
                        + "its weights are \(Discriminator.scope).* in optimizer.groups"),
                .init(
                    "loss.adversarial_width", \.loss.adversarial.width, .range(1...256),
                    "channels of the discriminator's first convolution"),
            ]
        }

        func prepared(_ setup: LossSetup) -> [PreparedLoss] {
            guard weight > 0 else { return [] }
            let discriminator = Discriminator(width: width)
            let variables = discriminator.variables(seed: setup.seed)
            let opponent = PreparedLoss.Opponent(variables: variables) { context in
                discriminator.loss(
                    context[.lightness], photo: context[.target], estimate: context.estimate)
            }
            let part = PreparedLoss(
                reference: .itself, inputs: [.lightness, .target], opponent: opponent
            ) { context in
                let verdict = discriminator(context[.lightness], context.estimate)
                return softplus(-verdict).mean() * Float(weight)
            }
            return [part]
        }
    }
}

/// Says for patches of 46 × 46 pixels whether their colors are those of a photo (the discriminator
/// of Isola et al., "Image-to-Image Translation with Conditional Adversarial Networks", 2017, with
/// a convolution less and without normalization).
struct Discriminator {
    private let network: Network

    /// The first part of the names of its variables.
    static let scope = CheckpointFormat.opponent
    static func names(variable: String) -> Bool { variable.hasPrefix("\(scope).") }

    private final class Network: Module {
        let discriminator: Sequential

        init(width: Int) {
            func halving(_ inputs: Int, _ outputs: Int) -> [any Layer] {
                [
                    Conv2d(inputs, outputs, kernel: 4, stride: 2, padding: 1),
                    LeakyReLU(negativeSlope: 0.2),
                ]
            }
            discriminator = Sequential(
                halving(3, width) + halving(width, 2 * width) + halving(2 * width, 4 * width)
                    + [Conv2d(4 * width, 1, kernel: 4, padding: 1)])
            super.init()
            assignNames()
        }
    }

    /// - Parameter width: the channels of the first convolution.
    init(width: Int) { network = Network(width: width) }

    /// The weights that it starts with.
    func variables(seed: UInt64) -> [String: TensorData] {
        StateSpec(of: network).initialValues(seed: seed)
    }

    /// The logits of the probabilities that patches are a photo's, [N, 1, H/8 − 1, W/8 − 1].
    ///
    /// - Parameters:
    ///   - lightness: [N, 1, H, W] in 0…100.
    ///   - colors: a and b divided by 110, [N, 2, H, W].
    func callAsFunction(_ lightness: Tensor, _ colors: Tensor) -> Tensor {
        let graph = colors.graph
        // The colorizer alone is trained for rounded weights and inputs.
        let rounding = (graph.weightRounding, graph.inputRounding)
        (graph.weightRounding, graph.inputRounding) = (nil, nil)
        defer { (graph.weightRounding, graph.inputRounding) = rounding }
        return network.discriminator(concat([lightness / 50 - 1, colors], axis: 1))
    }

    /// What the discriminator minimizes, rank 0: the cross-entropy of its verdicts about a photo
    /// and about an estimate.
    func loss(_ lightness: Tensor, photo: Tensor, estimate: Tensor) -> Tensor {
        softplus(-self(lightness, photo)).mean() + softplus(self(lightness, estimate)).mean()
    }
}
