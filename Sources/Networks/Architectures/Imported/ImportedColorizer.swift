import RetintGraph
import RetintLayers
import RetintONNXReading
import RetintTensors

/// A colorizer that was read from a file, see ``NetworkDefinition``.
///
/// Its parameters have the names that they have in the file.
public final class ImportedColorizer: Module, ColorizerNetwork {
    /// The name of all imported networks in files: `onnx`.
    public static let architecture = "onnx"

    private let definition: NetworkDefinition
    private let state: NamedParameters

    /// Creates the network, with named parameters.
    public init(_ definition: NetworkDefinition) {
        self.definition = definition
        state = NamedParameters(definition.model.namedParameters)
        super.init()
        assignNames()
    }

    public var architecture: String { Self.architecture }
    public var sizes: InputSizes { definition.sizes }

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let graph = lightness.graph
        if graph.error == nil {
            do {
                return try definition.colors(of: lightness)
            } catch {
                let cause = (error as? ONNXError).map { "\($0.place): \($0.rule)" } ?? "\(error)"
                let hint =
                    lightness.shape[0] > 1
                    ? "\(cause); it may have been exported for one image: set batch=1, or export "
                        + "it with a dynamic batch" : "\(error)"
                graph.record(ShapeError(hint), Self.architecture, [lightness.shape])
            }
        }
        return concat([lightness, lightness], axis: 1)
    }
}
