import RetintEngine

/// How fast a model is on this machine, and where its time goes.
public struct PerformanceReport: Sendable, Encodable {
    /// The machine, and what else ran on it.
    public struct Machine: Hashable, Sendable, Encodable {
        /// The name of the processor.
        public let cpu: String
        /// The processors that the process may use.
        public let processors: Int
        /// The threads of a prediction.
        public let threads: Int
        /// The processor for which OpenBLAS chose its kernels.
        public let blasCore: String
        /// The number of convolutions whose fastest algorithm on this machine has been measured;
        /// a rule of thumb chooses the others.
        public let tunedConvolutions: Int
        /// The share of all processors, 0…1, that other processes and other machines of the same
        /// host used during the predictions; nil if the system does not report it.
        public let otherWorkShare: Double?
    }

    /// The machine.
    public let machine: Machine
    /// The rate of the live source in frames per second.
    public let fps: Double
    /// What ``PerformanceReport/ModelPerformance/live`` is computed from.
    public private(set) var liveNotice =
        "simulated exactly from the measured durations, in their order; not a run at that rate"
    /// The model.
    public let model: PerformanceReport.ModelPerformance
    /// The model to compare with; nil without one.
    public let against: PerformanceReport.ModelPerformance?
    /// The other model's values divided by the model's, by name; nil without another model.
    public let ratios: [String: Double]?
}
