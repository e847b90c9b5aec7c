import RetintGraph
import RetintLayers
import RetintTensors

/// A colorizer that was read from a file, see ``NetworkDefinition``.
///
/// Its parameters have the names that they have in the file.
public final class ImportedColorizer: Module, ColorizerNetwork {
    public static let architecture = "onnx"
    public static let requiredMultiple = 1
    public static var options: Set<PartialKeyPath<ColorizerOptions>> { [\.definition] }

    private let definition: NetworkDefinition
    private let state: NamedParameters

    /// - Precondition: `options` has a definition, which ``makeColorizer(_:options:)`` checks.
    public init(options: ColorizerOptions) {
        guard let definition = options.definition else {
            preconditionFailure("an imported network needs its definition")
        }
        self.definition = definition
        state = NamedParameters(definition.model.namedParameters)
        super.init()
        assignNames()
    }

    public var sizes: InputSizes { definition.sizes }

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let graph = lightness.graph
        if graph.error == nil {
            do {
                return try definition.colors(of: lightness)
            } catch {
                graph.record(ShapeError("\(error)"), Self.architecture, [lightness.shape])
            }
        }
        return concat([lightness, lightness], axis: 1)
    }
}
