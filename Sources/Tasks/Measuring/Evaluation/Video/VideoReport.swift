import RetintPhotoData

/// How well and how steadily a model colors videos.
///
/// Frames are compared at the network's size.
public struct VideoReport: Sendable, Encodable {
    /// One video, or one clip made from a photo.
    public struct Film: Sendable, Codable {
        /// The path of the video or of the photo.
        public let file: String
        /// `film`, or what happens in the clip: `pan`, `zoom` or `exposure`.
        public let kind: String
        /// The number of frames.
        public let frames: Int
        /// The number of scene cuts that were found.
        public let cuts: Int
        /// Colors that follow those of the previous frames.
        public let stable: VideoQuality
        /// Colors of each frame, computed independently.
        public let perFrame: VideoQuality
        /// The video's own colors.
        public let original: VideoQuality
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
    public let films: [Film]
    /// The photos that were skipped.
    public let failures: [Failure]

    private enum CodingKeys: String, CodingKey {
        case model, height, width, films, failed, means
    }

    /// Encodes the videos and their means, and only the number of failures.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(model, forKey: .model)
        try container.encode(height, forKey: .height)
        try container.encode(width, forKey: .width)
        try container.encode(means, forKey: .means)
        try container.encode(films, forKey: .films)
        try container.encode(failures.count, forKey: .failed)
    }
}

extension VideoReport {
    /// The mean over the videos of one kind.
    public struct Mean: Sendable, Encodable {
        /// The kind of the videos.
        public let kind: String
        /// The number of videos.
        public let films: Int
        /// The number of all frames.
        public let frames: Int
        /// The number of all scene cuts that were found.
        public let cuts: Int
        /// Colors that follow those of the previous frames.
        public let stable: VideoQuality
        /// Colors of each frame, computed independently.
        public let perFrame: VideoQuality
        /// The videos' own colors.
        public let original: VideoQuality
    }

    /// The means over the videos of each kind, in the order in which the kinds appear.
    public var means: [Mean] {
        var kinds: [String] = []
        for film in films where !kinds.contains(film.kind) { kinds.append(film.kind) }
        return kinds.compactMap { kind in
            let films = films.filter { $0.kind == kind }
            guard let stable = VideoQuality(meanOf: films.map(\.stable)),
                let perFrame = VideoQuality(meanOf: films.map(\.perFrame)),
                let original = VideoQuality(meanOf: films.map(\.original))
            else { return nil }
            return Mean(
                kind: kind, films: films.count, frames: films.reduce(0) { $0 + $1.frames },
                cuts: films.reduce(0) { $0 + $1.cuts }, stable: stable, perFrame: perFrame,
                original: original)
        }
    }
}

extension VideoQuality {
    /// - Returns: nil if there are none.
    init?(meanOf films: [VideoQuality]) {
        func mean(_ value: (VideoQuality) -> Double?) -> Double? {
            let values = films.compactMap(value)
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
