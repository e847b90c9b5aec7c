public import Files

/// Why a training cannot start or go on.
///
/// Everything that this module finds wrong is a `TrainingError`. Errors of reading and writing
/// files, checkpoints and photos are passed on as they are.
public typealias TrainingError = Refusal<TrainingProblem>

/// What keeps a training from starting or going on.
public enum TrainingProblem: RefusalKind {
    /// A `key=value` setting that cannot be used.
    case setting
    /// A configuration that cannot be used, alone or with its network, teacher or data.
    case configuration
    /// A folder without usable photos.
    case noPhotos
    /// The loss, its gradient or a weight is infinite or not a number.
    case notFinite
    /// The output folder already holds a run.
    case runExists
    /// There is no run to resume, or it does not fit the configuration.
    case cannotResume
    /// The ranks of a job do not train the same.
    case ranksDiffer

    /// The caller chose the settings and the output; files have the configuration and the photos.
    public var fault: Fault {
        switch self {
        case .setting, .runExists: .usage
        case .configuration, .noPhotos, .cannotResume, .ranksDiffer: .input
        case .notFinite: .failure
        }
    }
}

extension TrainingError {
    /// A configuration that cannot be used.
    ///
    /// - Parameter location: the file with the line ("train.yaml:12"), or the key.
    init(at location: String, _ problem: String) {
        self.init(.configuration, place: location, problem)
    }
}
