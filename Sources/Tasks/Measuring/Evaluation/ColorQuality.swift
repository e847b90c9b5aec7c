extension EvaluationReport {
    /// The quality of a colored image compared with the original, or its mean over images.
    public struct ColorQuality: Hashable, Sendable, Codable {
        /// Peak signal-to-noise ratio of the RGB images in dB, peak 255. A larger value than
        /// ``highestPSNR`` counts as ``highestPSNR``: one gray photo, reproduced exactly, would
        /// make the mean infinite.
        public internal(set) var psnrDb = 0.0
        /// Mean CIEDE2000 color difference.
        public internal(set) var deltaE2000 = 0.0
        /// Hasler–Süsstrunk colorfulness of the colored image, 0 for gray.
        public internal(set) var colorfulness = 0.0
        /// The absolute difference from the colorfulness of the original.
        public internal(set) var colorfulnessDifference = 0.0
        /// The colorfulness minus that of the original: negative for colors that are too pale. The
        /// absolute value of its mean is ΔCF in papers.
        public internal(set) var colorfulnessBias = 0.0
        /// The colorfulness of the colored image as BasicSR and DDColor compute it, from absolute
        /// values.
        public internal(set) var basicSRColorfulness = 0.0
        /// The same minus that of the original; the absolute value of its mean is DDColor's ΔCF.
        public internal(set) var basicSRColorfulnessBias = 0.0
        /// Structural similarity of the RGB images; nil if no image has at least 7 × 7 pixels.
        public internal(set) var ssim: Double?
        /// Mean Euclidean distance in the ab plane.
        public internal(set) var abError = 0.0
        /// The area under the curve of the share of pixels within an ab error of 0…150; 1 is
        /// perfect.
        public internal(set) var abAuc = 0.0
        /// The same with all colors weighted equally, however rare; over the pixels of all images
        /// together.
        public internal(set) var abAucRebalanced = 0.0

        /// Mean absolute difference of chroma, see `ChromaHueErrors`.
        public internal(set) var chromaError = 0.0
        /// Mean difference of chroma, colored minus original: negative for colors that are too
        /// pale.
        public internal(set) var chromaBias = 0.0
        /// Mean CIE hue difference: the part of the ab error that is not a difference of chroma.
        public internal(set) var hueError = 0.0
        /// Mean angle between the hues in degrees, over the pixels of all images together where
        /// both chromas are at least 5; nil if there are no such pixels.
        public internal(set) var hueAngleError: Double?
        /// The ab error by the lightness of the original, over the pixels of all images together.
        public internal(set) var abErrorByLightness = ByLightness()
        /// The colors where the original is nearly gray, over the pixels of all images together.
        public internal(set) var nearGray = NearGray()
        /// ΔE2000 of skin by its tone, over the pixels of all images together, where
        /// ``EvaluationOptions/skin`` says. Nil for a tone that
        /// no image has, and if skin is not measured.
        public internal(set) var skin = BySkinTone()
        /// 1 if ΔE2000 is smaller than that of the gray image, else 0; for several images, the
        /// fraction of images with 1. Nil for the gray image itself.
        public internal(set) var betterThanGray: Double?
        /// The Fréchet distance between the originals' features and those of the colored images,
        /// see `frechetDistance(_:_:)`. Nil without a ``FeatureNetwork``, for a single image and
        /// in confidence intervals: images drawn twice change the covariance of a resample.
        public internal(set) var frechetDistance: Double?

        /// Mean ab error near strong color edges, see `ABEdgeErrors`; nil unless images are
        /// compared at their own size.
        public internal(set) var abErrorAtEdges: Double?
        /// Mean ab error of all other pixels; nil unless images are compared at their own size.
        public internal(set) var abErrorElsewhere: Double?

        /// The PSNR in dB of an image that equals the original.
        public static let highestPSNR = 100.0

        /// A value for each quarter of the range of L; nil for a quarter without pixels.
        public struct ByLightness: Hashable, Sendable, Codable {
            /// L from 0 to 25.
            public internal(set) var darkest: Double?
            /// L from 25 to 50.
            public internal(set) var dark: Double?
            /// L from 50 to 75.
            public internal(set) var light: Double?
            /// L from 75 to 100.
            public internal(set) var lightest: Double?
        }

        /// A value for each tone of skin, see `SkinErrors`; nil for a tone without pixels.
        public struct BySkinTone: Hashable, Sendable, Codable {
            /// An individual typology angle above 55°.
            public internal(set) var veryLight: Double?
            /// 41° to 55°.
            public internal(set) var light: Double?
            /// 28° to 41°.
            public internal(set) var intermediate: Double?
            /// 10° to 28°.
            public internal(set) var tan: Double?
            /// −30° to 10°.
            public internal(set) var brown: Double?
            /// Below −30°.
            public internal(set) var dark: Double?
        }

        /// Colors where the original's chroma is below 5; they should be close to 0. Nil if no
        /// pixel is.
        public struct NearGray: Hashable, Sendable, Codable {
            /// The mean chroma.
            public internal(set) var chroma: Double?
            /// The mean a: below 0 is a green cast, above 0 a red one.
            public internal(set) var a: Double?
            /// The mean b: below 0 is a blue cast, above 0 a yellow one.
            public internal(set) var b: Double?
        }

        init() {}

        /// The metrics that are means over the images that have them.
        static var optionalMeans: [WritableKeyPath<EvaluationReport.ColorQuality, Double?>] {
            [\.ssim, \.abErrorAtEdges, \.abErrorElsewhere, \.betterThanGray]
        }

        /// The metrics that are means over all images.
        static var means: [WritableKeyPath<EvaluationReport.ColorQuality, Double>] {
            [
                \.psnrDb, \.deltaE2000, \.colorfulness, \.colorfulnessDifference,
                \.colorfulnessBias, \.basicSRColorfulness, \.basicSRColorfulnessBias,
                \.abError, \.abAuc, \.chromaError, \.chromaBias, \.hueError,
            ]
        }

        /// The metrics over the pixels of all images together, if there are such pixels.
        static var pooled: [WritableKeyPath<EvaluationReport.ColorQuality, Double?>] {
            [
                \.hueAngleError, \.abErrorByLightness.darkest, \.abErrorByLightness.dark,
                \.abErrorByLightness.light, \.abErrorByLightness.lightest, \.nearGray.chroma,
                \.nearGray.a, \.nearGray.b, \.skin.veryLight, \.skin.light, \.skin.intermediate,
                \.skin.tan, \.skin.brown, \.skin.dark,
            ]
        }
    }
}
