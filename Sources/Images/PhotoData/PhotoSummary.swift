extension PhotoSurvey {
    /// A summary of a survey.
    public struct Summary: Encodable, Sendable {
        /// A photo that is left out.
        public struct Dropped: Encodable, Sendable {
            /// The path of the file; for a packed photo the path of the pack, `/`, and the photo's
            /// name.
            public let photo: String
            /// `broken`, `gray` or `duplicate`.
            public let kind: String
            /// The reason in words, see ``PhotoSurvey/Problem/description``.
            public let reason: String
        }

        /// The number of photos that a network can learn from.
        public let photos: Int
        /// The medians of the sizes in pixels, as decoded; 0 if there are no photos.
        public let medianWidth, medianHeight: Int
        /// The median over photos of ``PhotoSurvey/Photo/chroma``.
        public let medianChroma: Double
        /// The photos that are left out, in the order of the collection.
        public let dropped: [Dropped]

        init(_ survey: PhotoSurvey) {
            func median<Value: Comparable>(_ values: [Value]) -> Value? {
                values.isEmpty ? nil : values.sorted()[values.count / 2]
            }
            photos = survey.usable.count
            medianWidth = median(survey.usable.map(\.width)) ?? 0
            medianHeight = median(survey.usable.map(\.height)) ?? 0
            medianChroma = Double(median(survey.usable.map(\.chroma)) ?? 0)
            dropped = survey.dropped.map {
                Dropped(photo: "\($0.reference)", kind: $0.problem.kind, reason: "\($0.problem)")
            }
        }
    }
}

extension PhotoSurvey {
    /// A summary of the survey, with the reason for every photo that is left out.
    public var summary: PhotoSurvey.Summary { PhotoSurvey.Summary(self) }
}
