extension PerformanceReport {
    /// The progress of ``PerformanceReport/init(of:against:_:onProgress:)``. Counts begin with 0.
    public enum Progress: Hashable, Sendable {
        /// The number of rounds in which each model was started with a cold and a warm cache.
        case started(rounds: Int, total: Int)
        /// The number of turns in which each model predicted.
        case predicted(turns: Int, total: Int)
        /// The number of rounds in which the operations of each model were timed.
        case profiled(rounds: Int, total: Int)
        /// The number of models that have colored the video.
        case coloredVideo(models: Int, total: Int)
    }
}
