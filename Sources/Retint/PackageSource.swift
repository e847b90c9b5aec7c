import ColorizerExport
import MIL
import MLPackage
import TensorGraph

/// A network that is read back from the operations of a package.
struct PackageSource: ModelSource {
    let name: String
    let preferredSize: (height: Int, width: Int)
    private let package: MLPackage
    private let interface: ColorizerInterface

    init(_ package: MLPackage, name: String) throws {
        self.name = name
        self.package = package
        let opened = try RaisedPackage(package)
        let raised = opened.model
        guard let interface = opened.interface else {
            let inputs = raised.inputs.map { "\($0.name) \($0.shape)" }.joined(separator: ", ")
            let outputs = raised.outputs.map { "\($0.name) \($0.value.shape)" }
            throw ModelError(
                .notAColorizer, name,
                "takes \(inputs) and gives \(outputs.joined(separator: ", ")); a colorizer takes "
                    + "one channel and gives two, in one output or two")
        }
        self.interface = interface
        preferredSize = (raised.inputs[0].shape[2], raised.inputs[0].shape[3])
    }

    func body(for shape: Shape) throws -> ModelBody {
        let raised = try raised(for: shape)
        return ModelBody(
            outputs: raised.outputs, variables: raised.variables,
            interface: ModelInterface(
                input: interface.input, lightnessScale: interface.lightnessScale,
                roundsInput: interface.takesPixels, outputs: interface.outputs.names))
    }

    /// At its own size a package is read as it is; another one it must declare.
    private func raised(for shape: Shape) throws -> RaisedModel {
        let own = try RaisedPackage(package).model
        if own.inputs[0].shape == shape { return own }
        do {
            return try RaisedPackage(package, inputShapes: [interface.input: shape]).model
        } catch {
            throw ModelError(
                .size, name,
                "does not run on lightness of shape \(shape), only on \(own.inputs[0].shape): "
                    + "\(error)")
        }
    }
}

extension ColorizerInterface.Outputs {
    /// The output of both channels, or those of a and of b.
    fileprivate var names: [String] {
        switch self {
        case .joint(let name): [name]
        case .split(let a, let b): [a, b]
        }
    }
}
