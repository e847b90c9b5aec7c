import RetintDeviceRules
import RetintRuntime

extension PerformanceReport {
    /// The size, the speed and the memory of one model.
    public struct ModelPerformance: Sendable, Encodable {
        /// The path of the model.
        public let name: String
        /// `checkpoint`, `mlpackage` or `onnx`.
        public let kind: String
        /// The name of a checkpoint's architecture; nil for a package.
        public let architecture: String?
        /// The bytes of the file, or of all files of the package.
        public let fileBytes: Int
        /// The precision of the weights. The arithmetic is float32.
        public let precision: ModelPrecision
        /// Whether it takes lightness and returns colors.
        public let isColorizer: Bool
        /// The height of the images in pixels; nil if no images go in.
        public let height: Int?
        /// The width of the images in pixels; nil if no images go in.
        public let width: Int?
        /// Learned values.
        public let parameters: Int
        /// Multiply-adds of one prediction.
        public let multiplyAdds: Int
        /// Operations of the package, or of the float16 package of a network, without constants
        /// and the decompression of weights; nil if it cannot be exported.
        public let operations: Int?
        /// From the file to the first colors.
        public let startup: PerformanceReport.Startup
        /// The memory of the process; nil if the system does not report it.
        public let memory: PerformanceReport.PeakMemory?
        /// The durations of consecutive predictions: lightness in and
        /// a and b out for a colorizer, random values in for any other model.
        public let prediction: PerformanceReport.DurationSummary
        /// Predictions per second.
        public let predictionsPerSecond: Double
        /// A live source at the requested rate.
        public let live: PerformanceReport.LiveSource
        /// Live sources at common rates.
        public let rates: [PerformanceReport.LiveSource]
        /// The video that was colored; nil without one.
        public internal(set) var video: PerformanceReport.VideoPerformance?
        /// The time of each operation.
        public let profile: PerformanceReport.OperationTimes
        /// The findings of rules about the Neural Engine, for the package or the float16 package of
        /// a network; nil if it cannot be exported.
        public let placement: PlacementReport?
        /// Why a network cannot be exported.
        public let exportProblem: String?
        /// The duration of each prediction, in order.
        public let predictionSeconds: [Double]
    }
}
