import ArgumentParser
import Retint

/// The network whose features are compared.
struct FeatureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Also measure the Fréchet distance of the features of a pretrained EfficientNet-Lite, \
            whose weights are in this file.
            """, valueName: "file"), completion: .files(for: .weights))
    var features: String?

    /// Reads the network, if one was named.
    func network() throws -> FeatureNetwork? {
        try features.map { try FeatureNetwork(contentsOf: $0) }
    }
}
