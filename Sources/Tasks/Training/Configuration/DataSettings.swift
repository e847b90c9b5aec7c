extension TrainingConfiguration {
    /// Photos, and how crops are made from them.
    public struct DataSettings: Hashable, Sendable {
        /// The folder, list or packed dataset of photos to train on. It may be a folder of shards.
        public var train = ""
        /// The validation photos; nil: a part of the training photos.
        public var validation: String?
        /// The fraction for that part, 0…0.9.
        public var validationFraction = 0.1
        /// The largest number of validation photos.
        public var validationPhotos = 64
        /// The side of a crop in pixels.
        public var crop = 128
        /// Other sides of crops; one of these or ``crop`` is chosen at random for each step. The
        /// network is compiled for each; photos are validated at ``crop``.
        public var otherCrops: CropSides?
        /// The smallest crop, as a share of the photo's short side.
        public var minimumScale = 0.5
        /// The smallest crop, as a share of the photo's area. If it is set, crops are rectangles
        /// that are squeezed to squares (torchvision's `RandomResizedCrop`), and ``minimumScale``
        /// has no effect; nil: crops are squares.
        public var minimumArea: Double?
        /// The largest ratio of the longer to the shorter side of such a crop.
        public var ratio = 1.5
        /// Whether crops are mirrored with probability 1/2.
        public var flip = true
        /// The largest random shift of L, as a share of its range.
        public var lightness = 0.0
        /// The largest random change of contrast of L, relative.
        public var contrast = 0.0
        /// The largest random change of the photo's exposure in stops: its light is multiplied by
        /// up to 2 to this power.
        public var exposure = 0.0
        /// The largest random gain of red, green and blue relative to each other, in linear light:
        /// 0.5 is from 1/1.5 to 1.5.
        public var whiteBalance = 0.0
        /// The share of crops whose mean color is made gray (the gray-world assumption).
        public var grayWorld = 0.0
        /// A folder of cut-outs: objects on a transparent background, pasted into crops.
        public var cutouts: String?
        /// The share of crops that receive a cut-out, where there are any.
        public var cutoutShare = 0.25
        /// The share of those crops whose cut-out is on a plain white, gray or colored background
        /// instead of the photo.
        public var cutoutGrounds = 0.0
        /// Whether the colors of some pixels are given as hints (SIGGRAPH17).
        public var hints = false
        /// The largest number of shards of a packed dataset whose photos are shuffled together;
        /// nil: all.
        public var shuffleShards: Int? = 16
        /// The size of the cache of decoded photos, in MiB.
        public var cacheMegabytes = 1024
        /// Threads that prepare batches.
        public var loaderThreads = 1

        /// The defaults.
        public init() {}
    }
}
