public import RetintFiles

/// The reason a network cannot be converted to a Core ML package, or a package cannot be run: the
/// location, the violated rule, and what to do.
///
/// A place is, for example, `operation 12 (conv, "conv_0")` or `tensor model1.0.weight`.
public typealias ConversionError = Refusal<ConversionProblem>

/// What has to be changed so that a network can be converted.
public enum ConversionProblem: RefusalKind {
    /// An option that the model does not support.
    case option
    /// The model: it contains something that cannot be converted.
    case model

    /// The caller chose the options.
    public var fault: Fault { self == .option ? .usage : .input }
}

extension ConversionError {
    /// An error whose cause is the model.
    package init(file: String = "", place: String, rule: String, remedy: String) {
        self.init(.model, file: file, place: place, rule: rule, remedy: remedy)
    }
}
