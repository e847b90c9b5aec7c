/// The progress of ``measurePerformance(of:against:_:onProgress:)``. Counts begin with 0.
public enum PerformanceProgress: Hashable, Sendable {
    /// The number of rounds in which each model was started with a cold and a warm cache.
    case started(rounds: Int, total: Int)
    /// The number of turns in which each model predicted.
    case predicted(turns: Int, total: Int)
    /// The number of rounds in which the operations of each model were timed.
    case profiled(rounds: Int, total: Int)
    /// The number of models that have colored the video.
    case coloredFilm(models: Int, total: Int)
}
