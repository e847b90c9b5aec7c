public import RetintFiles

/// Why training cannot start or continue.
///
/// Every error of this module is a `TrainingError`. Errors of reading and writing
/// files, checkpoints and photos are passed on unchanged.
public typealias TrainingError = Refusal<TrainingProblem>

/// What keeps a training from starting or going on.
public enum TrainingProblem: RefusalKind {
    /// An invalid `key=value` setting.
    case setting
    /// A configuration that is invalid, by itself or with its network, teacher or data.
    case configuration
    /// A folder without usable photos.
    case noPhotos
    /// The loss, its gradient or a weight is infinite or not a number.
    case notFinite
    /// The output folder already contains a run.
    case runExists
    /// There is no run to resume, or it does not fit the configuration.
    case cannotResume
    /// The ranks of a job would train differently.
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
    /// An invalid configuration.
    ///
    /// - Parameter location: the file with the line ("train.yaml:12"), or the key.
    init(at location: String, _ problem: String) {
        self.init(.configuration, place: location, problem)
    }
}
