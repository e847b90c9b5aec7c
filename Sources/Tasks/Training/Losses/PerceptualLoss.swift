import RetintArchitectures
import RetintCheckpoints
import RetintGraph
import RetintLayers
import RetintTensors

extension TrainingConfiguration {
    /// The difference of two colorings of a photo in the features of a colorizer's encoder (Johnson
    /// et al., "Perceptual Losses for Real-Time Style Transfer", 2016, which uses VGG's features).
    public struct PerceptualLoss: LossTerm {
        /// The weight of the squared difference of features.
        public var weight = 0.0
        /// The checkpoint of that colorizer, which takes hints.
        public var network: String?
        /// The modules whose outputs are its features, separated by spaces.
        public var modules = "model2 model3"

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "loss.perceptual", \.loss.perceptual.weight, .range(0...1e6),
                    "weight of the squared difference of a colorizer's features"),
                .init(
                    "loss.perceptual_network", optional: \.loss.perceptual.network,
                    .path("a checkpoint"), "that colorizer, which takes hints: siggraph17"),
                .init(
                    "loss.perceptual_modules", \.loss.perceptual.modules,
                    .names("names of modules"),
                    "modules whose outputs are the features, in one text or in a list"),
            ]
        }

        func prepared(_ setup: LossSetup) throws -> [PreparedLoss] {
            guard weight > 0 else { return [] }
            let encoder = try PerceptualEncoder(self)
            let part = PreparedLoss(
                reference: .photo, inputs: [.lightness, .target], variables: encoder.variables
            ) { context in
                encoder(context[.lightness], context.estimate, context[.target]) * Float(weight)
            }
            return [part]
        }
    }
}

/// The encoder whose features the perceptual loss compares.
///
/// It is that of a colorizer that takes hints: its input is lightness with the color of every pixel
/// as a hint. Its weights stay fixed.
struct PerceptualEncoder {
    private let network: any HintedColorizer
    private let modules: [String]
    /// The encoder's weights by their names in the graph.
    let variables: [String: TensorData]
    private static let scope = "perceptual"

    /// - Throws: ``TrainingError`` if the checkpoint does not fit; the errors of reading it.
    fileprivate init(_ loss: TrainingConfiguration.PerceptualLoss) throws {
        guard let path = loss.network else {
            throw TrainingError(
                at: "loss.perceptual",
                "is \(loss.weight), without a network for its features; name a checkpoint of "
                    + "siggraph17 in loss.perceptual_network, or set it to 0")
        }
        let checkpoint = try Checkpoint(contentsOf: path)
        guard let hinted = try checkpoint.network.make() as? any HintedColorizer else {
            throw TrainingError(
                at: "loss.perceptual_network",
                "\(path) contains \(checkpoint.network.architecture), which takes no color hints; "
                    + "use a checkpoint of siggraph17")
        }
        let names = loss.modules.split(whereSeparator: { " ,".contains($0) })
        self.init(hinted, variables: checkpoint.variables, modules: names.map(String.init))
        try requireModules(path)
    }

    /// - Parameter variables: the network's weights by their names in its state dict.
    init(
        _ network: any HintedColorizer, variables: [String: TensorData], modules: [String]
    ) {
        (self.network, self.modules) = (network, modules)
        self.variables = Dictionary(
            uniqueKeysWithValues: variables.map { ("\(Self.scope).\($0)", $1) })
    }

    private func requireModules(_ path: String) throws(TrainingError) {
        let graph = Graph()
        let side = network.requiredMultiple
        let color = graph.input(StepInput.target.name, [1, 2, side, side])
        let found = features(
            graph.input(StepInput.lightness.name, [1, 1, side, side]), color, "")
        guard !modules.isEmpty, found.count == modules.count else {
            throw TrainingError(
                at: "loss.perceptual_modules",
                "\(modules.joined(separator: " ")): \(path) does not have all of these modules; "
                    + "inspect it for their names")
        }
    }

    /// The mean squared difference of the features, averaged over modules, for each example: [N].
    ///
    /// - Parameters:
    ///   - lightness: [N, 1, H, W] in 0…100.
    ///   - estimate, target: a and b divided by 110, [N, 2, H, W].
    func callAsFunction(_ lightness: Tensor, _ estimate: Tensor, _ target: Tensor) -> Tensor {
        let estimated = features(lightness, LabScaling.denormalize(ab: estimate), "estimate")
        let expected = features(lightness, LabScaling.denormalize(ab: target), "photo")
        let terms = zip(estimated, expected).map { pair in
            mseLoss(pair.0, pair.1, reduction: .none).meanOfExamples()
        }
        return terms.dropFirst().reduce(terms[0], +) / Float(terms.count)
    }

    /// The outputs of the modules, with the color of every pixel as a hint.
    private func features(_ lightness: Tensor, _ colors: Tensor, _ name: String) -> [Tensor] {
        let graph = lightness.graph
        let mask = TensorData(shape: lightness.shape, repeating: 1)
        let module = "\(Self.scope).\(name)"
        graph.frozen(as: Self.scope) {
            graph.inModule(module) {
                _ = network.predictions(lightness, hints: colors, mask: graph.constant(mask))
            }
        }
        return modules.compactMap { graph.output(ofModule: "\(module).\($0)") }
    }
}
