public import RetintFiles

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
    /// The inputs are not those of the model.
    case inputs
    /// The model returns colors of another size than its input.
    case outputSize
    /// The colors contain NaN or infinity.
    case nonFinite
    /// The model's program is damaged or uses an operation that is not supported.
    case notRunnable

    /// The caller chose the size; all else is in the model.
    public var fault: Fault { self == .size ? .usage : .input }
}

extension ModelError {
    package init(_ kind: Kind, _ model: String, _ problem: String) {
        self.init(kind, file: model, problem)
    }
}
