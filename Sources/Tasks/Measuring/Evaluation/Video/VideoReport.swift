import RetintPhotoData

/// How well and how steadily a model colors videos.
///
/// Frames are compared at the network's size.
public struct VideoReport: Sendable, Encodable {
    /// One video, or one clip made from a photo.
    public struct Video: Sendable, Codable {
        /// The path of the video or of the photo.
        public let file: String
        /// `video`, or what happens in the clip: `pan`, `zoom` or `exposure`.
        public let kind: String
        /// The number of frames.
        public let frames: Int
        /// The number of scene cuts that were found.
        public let cuts: Int
        /// Colors that follow those of the previous frames.
        public let stable: VideoReport.Quality
        /// Colors of each frame, computed independently.
        public let perFrame: VideoReport.Quality
        /// The video's own colors.
        public let original: VideoReport.Quality
    }

    /// A photo from which no clip can be made.
    public typealias Failure = EvaluationReport.Failure

    /// The name of the model.
    public let model: String
    /// The network's height in pixels.
    public let height: Int
    /// The network's width in pixels.
    public let width: Int
    /// The videos, in order.
    public let videos: [Video]
    /// The photos that were skipped.
    public let failures: [Failure]

    private enum CodingKeys: String, CodingKey {
        case model, height, width, videos, failed, means
    }

    /// Encodes the videos and their means, and only the number of failures.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(model, forKey: .model)
        try container.encode(height, forKey: .height)
        try container.encode(width, forKey: .width)
        try container.encode(means, forKey: .means)
        try container.encode(videos, forKey: .videos)
        try container.encode(failures.count, forKey: .failed)
    }
}

extension VideoReport {
    /// The mean over the videos of one kind.
    public struct Mean: Sendable, Encodable {
        /// The kind of the videos.
        public let kind: String
        /// The number of videos.
        public let videos: Int
        /// The number of all frames.
        public let frames: Int
        /// The number of all scene cuts that were found.
        public let cuts: Int
        /// Colors that follow those of the previous frames.
        public let stable: VideoReport.Quality
        /// Colors of each frame, computed independently.
        public let perFrame: VideoReport.Quality
        /// The videos' own colors.
        public let original: VideoReport.Quality
    }

    /// The means over the videos of each kind, in the order in which the kinds appear.
    public var means: [Mean] {
        var kinds: [String] = []
        for video in videos where !kinds.contains(video.kind) { kinds.append(video.kind) }
        return kinds.compactMap { kind in
            let videos = videos.filter { $0.kind == kind }
            guard let stable = VideoReport.Quality(meanOf: videos.map(\.stable)),
                let perFrame = VideoReport.Quality(meanOf: videos.map(\.perFrame)),
                let original = VideoReport.Quality(meanOf: videos.map(\.original))
            else { return nil }
            return Mean(
                kind: kind, videos: videos.count, frames: videos.reduce(0) { $0 + $1.frames },
                cuts: videos.reduce(0) { $0 + $1.cuts }, stable: stable, perFrame: perFrame,
                original: original)
        }
    }
}

extension VideoReport.Quality {
    /// - Returns: nil if there are none.
    init?(meanOf videos: [VideoReport.Quality]) {
        func mean(_ value: (VideoReport.Quality) -> Double?) -> Double? {
            let values = videos.compactMap(value)
            return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
        }
        guard let difference = mean(\.deltaE2000), let error = mean(\.abError),
            let color = mean(\.colorfulness)
        else { return nil }
        self.init(
            deltaE2000: difference, abError: error, colorfulness: color,
            warpError: mean(\.warpError), cdc: mean(\.cdc))
    }
}
