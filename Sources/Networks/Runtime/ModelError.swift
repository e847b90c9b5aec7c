public import RetintFiles
import RetintGraph

/// Why a model cannot be run: the model, the violated rule, and what to do.
///
/// Its file is the path of the model, or the name of its architecture.
public typealias ModelError = Refusal<ModelProblem>

/// What keeps a model from running.
public enum ModelProblem: RefusalKind {
    /// The package does not map lightness to colors.
    case notAColorizer
    /// The model does not run at the requested size.
    case size
    /// The model has no colors of the requested style.
    case style
    /// The inputs are not those of the model.
    case inputs
    /// The model returns colors of another size than its input.
    case outputSize
    /// The colors contain NaN or infinity.
    case nonFinite
    /// The model's program is damaged or uses an operation that is not supported.
    case notRunnable
    /// The device cannot run it: it is not there, a library is missing, or its memory is too small.
    case device

    /// The caller chose the size; what is not of the device is in the model.
    public var fault: Fault {
        switch self {
        case .size, .style: .usage
        case .device: .failure
        default: .input
        }
    }
}

extension ModelError {
    /// - Parameter kind: of an error that is not of the device.
    init(_ kind: Kind, _ model: String, _ error: GraphError) {
        self.init(error.kind.device == nil ? kind : .device, model, "\(error)")
    }

    package init(_ kind: Kind, _ model: String, _ problem: String) {
        self.init(kind, file: model, problem)
    }
}
