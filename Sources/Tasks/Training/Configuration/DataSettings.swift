import RetintLayers
import RetintTensors

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
        public var otherCrops: TrainingConfiguration.CropSides?
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
        /// How evenly the sources of photos are seen, 0…1: the share of a folder of n photos is in
        /// proportion to n^(1 − this). 0: all photos are seen equally often; 1: all folders are.
        public var sourceBalance = 0.0
        /// The size of the cache of decoded photos, in MiB, and of that in the memory of a GPU.
        public var cacheMegabytes = 1024
        /// Threads that prepare batches; nil: one on the CPU, which the step needs itself, and on a
        /// GPU one for each processor.
        public var loaderThreads: Int?

        /// The defaults.
        public init() {}
    }
}

extension TrainingConfiguration.DataSettings: ConfigurationSection {
    static var fields: [TrainingConfiguration.Field] {
        [
            // Empty in the defaults: users add their own.
            .init(
                "data.train", \.data.train,
                ConfigurationRule(
                    wanted: "one folder, file list or packed dataset; a file list names photos of "
                        + "several folders"
                ) { _ in true }, "training photos"),
            .init(
                "data.validation", optional: \.data.validation, .path("a folder of photos"),
                "validation photos; null, or if --set gives data.train alone: a part of the "
                    + "training photos"),
            .init(
                "data.validation_fraction", \.data.validationFraction, .range(0...0.9),
                "the share of that part"),
            .init(
                "data.validation_photos", \.data.validationPhotos, .range(1...100_000),
                "largest number of validation photos"),
            .init(
                "data.crop", \.data.crop, .range(TrainingConfiguration.CropSides.range),
                "side of a crop in pixels"),
            .init(
                "data.other_crops", optional: \.data.otherCrops, .sides,
                "other sides, \"128 160\" or a list: each step draws one of all sides at random; "
                    + "null: none"),
            .init(
                "data.minimum_scale", \.data.minimumScale, .range(0.05...1),
                "smallest crop, as a share of the photo's short side"),
            .init(
                "data.minimum_area", optional: \.data.minimumArea, .range(0.01...1),
                "smallest crop as a share of the photo's area; null: squares by minimum_scale"),
            .init(
                "data.ratio", \.data.ratio, .range(1...4),
                "largest ratio of the sides of such crops, which are squeezed to squares"),
            .init("data.flip", \.data.flip, .any, "mirrors crops with probability 1/2"),
            .init(
                "data.lightness", \.data.lightness, .range(0...0.5),
                "largest shift of L, as a share of its range"),
            .init(
                "data.contrast", \.data.contrast, .range(0...0.9),
                "largest relative change of contrast of L"),
            .init(
                "data.exposure", \.data.exposure, .range(0...3),
                "largest change of the photo's exposure, in stops"),
            .init(
                "data.white_balance", \.data.whiteBalance, .range(0...1),
                "largest relative gain of red, green and blue in linear light"),
            .init(
                "data.gray_world", \.data.grayWorld, .range(0...1),
                "share of crops whose mean color is made gray"),
            .init(
                "data.cutouts", optional: \.data.cutouts, .path("a folder of cut-outs"),
                "objects on a transparent background, pasted into crops"),
            .init(
                "data.cutout_share", \.data.cutoutShare, .range(0...1),
                "share of crops that receive a cut-out"),
            .init(
                "data.cutout_grounds", \.data.cutoutGrounds, .range(0...1),
                "share of those on a plain white, gray or colored ground instead of the photo"),
            .init(
                "data.hints", \.data.hints, .any,
                "gives the color of some pixels as hints, for siggraph17"),
            .init(
                "data.shuffle_shards", optional: \.data.shuffleShards, .range(1...100_000),
                "shards of a packed dataset whose photos are shuffled together; null: all"),
            .init(
                "data.source_balance", \.data.sourceBalance, .range(0...1),
                "0: photos are seen equally often; 1: folders of photos are, whatever their size"),
            .init(
                "data.cache_megabytes", \.data.cacheMegabytes, .range(0...1_000_000),
                "size of the cache of decoded photos, and of that in a GPU's memory"),
            .init(
                "data.loader_threads", optional: \.data.loaderThreads, .range(1...64),
                "threads that prepare batches; null: 1, on a GPU one for each processor"),
        ]
    }
}

extension TrainingConfiguration.DataSettings {
    /// All sides that crops may have, without repetition, ``crop`` first.
    var sides: [Int] {
        (otherCrops?.sides ?? []).reduce(into: [crop]) { all, side in
            if !all.contains(side) { all.append(side) }
        }
    }

    /// The side of the crops of a step, which is the same on all ranks.
    ///
    /// - Parameter step: counted from 0.
    func side(step: Int, seed: UInt64) -> Int {
        var random = RandomStream(seed: seed, name: "side \(step)")
        let sides = sides
        return sides[Int(random.next() % UInt64(sides.count))]
    }

    /// Whole photos and objects are kept large enough for sharp crops of the largest side.
    var largestSide: Int { sides.max() ?? crop }
}

extension TrainingConfiguration {
    /// Sides of crops in pixels: `128 160`.
    public struct CropSides: Hashable, Sendable {
        /// The sides, in their order.
        package let sides: [Int]

        /// The allowed sides of crops.
        static let range = 32...2048
        /// The network is compiled for each side, which takes memory.
        private static let maximumCount = 8

        /// - Returns: nil for no sides, too many sides, or sides that are not allowed.
        package init?(_ sides: [Int]) {
            guard 1...Self.maximumCount ~= sides.count, sides.allSatisfy(Self.range.contains) else {
                return nil
            }
            self.sides = sides
        }
    }
}

extension ConfigurationRule where Value == TrainingConfiguration.CropSides {
    fileprivate static var sides: ConfigurationRule {
        ConfigurationRule(wanted: Value.wanted, separator: " ") { _ in true }
    }
}

extension TrainingConfiguration.CropSides: ConfigurationValue {
    static var wanted: String {
        "1 to \(maximumCount) whole numbers from \(range.lowerBound) to \(range.upperBound), "
            + "separated by spaces or in a list"
    }

    init?(configurationText text: String) {
        let numbers = text.split(separator: " ").map { Int($0) }
        guard numbers.allSatisfy({ $0 != nil }) else { return nil }
        self.init(numbers.compactMap(\.self))
    }

    var configurationText: String {
        sides.map(String.init).joined(separator: " ").configurationText
    }
}
