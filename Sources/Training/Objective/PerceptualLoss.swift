import Checkpoints
import Colorizers
import Layers
import TensorGraph

/// How far two colorings of a photo are apart in the eyes of a colorizer's encoder (Johnson et al.,
/// "Perceptual Losses for Real-Time Style Transfer", 2016, with VGG's features there).
///
/// The encoder is that of a colorizer which takes hints: it is shown the lightness with the color
/// of every pixel. It does not learn.
struct PerceptualLoss {
    private let network: any HintedColorizer
    private let modules: [String]
    /// The encoder's weights, as the graph names them.
    let variables: [String: TensorData]
    private static let scope = "perceptual"

    /// - Returns: nil where the configuration does not ask for it.
    /// - Throws: ``ConfigurationError``, or what reading the checkpoint throws.
    init?(_ loss: TrainingConfiguration.Loss) throws {
        guard loss.perceptual > 0 else { return nil }
        guard let path = loss.perceptualNetwork else {
            throw ConfigurationError(
                "loss.perceptual_network",
                "name a checkpoint of siggraph17, or set loss.perceptual to 0")
        }
        let checkpoint = try Checkpoint(contentsOf: path)
        guard let hinted = try checkpoint.makeColorizer() as? any HintedColorizer else {
            throw ConfigurationError(
                "loss.perceptual_network",
                "\(path) holds \(checkpoint.architecture), which is not shown any colors; take a "
                    + "checkpoint of siggraph17")
        }
        let names = loss.perceptualModules.split(whereSeparator: { " ,".contains($0) })
        self.init(hinted, variables: checkpoint.variables, modules: names.map(String.init))
        try requireModules(path)
    }

    /// - Parameter variables: of the network, by their names in its state dict.
    init(
        _ network: any HintedColorizer, variables: [String: TensorData], modules: [String]
    ) {
        (self.network, self.modules) = (network, modules)
        self.variables = Dictionary(
            uniqueKeysWithValues: variables.map { ("\(Self.scope).\($0)", $1) })
    }

    private func requireModules(_ path: String) throws(ConfigurationError) {
        let graph = Graph()
        let side = network.requiredMultiple
        let color = graph.input("color", [1, 2, side, side])
        let found = features(graph.input("lightness", [1, 1, side, side]), color, "")
        guard !modules.isEmpty, found.count == modules.count else {
            throw ConfigurationError(
                "loss.perceptual_modules",
                "\(modules.joined(separator: " ")): \(path) does not have all of them; see "
                    + "retint inspect")
        }
    }

    /// The mean squared difference of the features, all modules alike, example by example: [N].
    ///
    /// - Parameters:
    ///   - lightness: [N, 1, H, W] in 0…100.
    ///   - estimate, target: a and b divided by 110, [N, 2, H, W].
    func callAsFunction(_ lightness: Tensor, _ estimate: Tensor, _ target: Tensor) -> Tensor {
        let seen = features(lightness, estimate * abScale, "estimate")
        let wanted = features(lightness, target * abScale, "photo")
        let terms = zip(seen, wanted).map { pair in
            mseLoss(pair.0, pair.1, reduction: .none).meanOfExamples()
        }
        return terms.dropFirst().reduce(terms[0], +) / Float(terms.count)
    }

    /// What the modules give, colors shown in full.
    private func features(_ lightness: Tensor, _ colors: Tensor, _ look: String) -> [Tensor] {
        let graph = lightness.graph
        let shown = TensorData(shape: lightness.shape, repeating: 1)
        let place = "\(Self.scope).\(look)"
        graph.frozen(as: Self.scope) {
            graph.inModule(place) {
                _ = network.predictions(lightness, hints: colors, mask: graph.constant(shown))
            }
        }
        return modules.compactMap { graph.output(ofModule: "\(place).\($0)") }
    }
}
