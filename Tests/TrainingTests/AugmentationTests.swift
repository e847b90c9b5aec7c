import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintColor
import RetintGraph
import RetintImages
import RetintPhotoData
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

/// What is done to photos beyond crops and tones.
@Suite struct AugmentationTests {
    private func batches(
        _ scratch: TemporaryFolder, _ settings: [String], count: Int = 12
    ) throws -> [Batch] {
        let source = try scratch.source(scratch.configuration(settings))
        let batches = try (0..<count).map { try source.batch(step: $0) }
        // A resumed run begins with a later step.
        let again = try scratch.source(scratch.configuration(settings)).batch(step: 5)
        #expect(again == batches[5])
        return batches
    }

    // MARK: Crops

    @Test func cropsFillTheRangeOfAreasAndRatios() throws {
        var settings = TrainingConfiguration.DataSettings()
        (settings.minimumArea, settings.ratio) = (0.25, 2)
        // Each pixel names its place, so that a crop tells where it is from.
        let photo = Image(
            width: 120, height: 100,
            pixels: (0..<100).flatMap { y in
                (0..<120).flatMap { x in [UInt8(2 * x), UInt8(2 * y), 0] }
            })
        var (areas, ratios) = ([Double](), [Double]())
        for index in 0..<300 {
            let crop = Augmentation(seed: 1, epoch: 0, index: index, settings: settings)
                .apply(to: photo, side: 64)
            func extent(_ channel: Int) -> Double {
                let values = stride(from: channel, to: crop.pixels.count, by: 3)
                    .map { Double(crop.pixels[$0]) }
                return (values.max()! - values.min()!) / 2 + 1
            }
            areas.append(extent(0) * extent(1) / 12000)
            ratios.append(extent(0) / extent(1))
        }
        #expect(areas.min()! > 0.22 && areas.min()! < 0.3 && areas.max()! > 0.9)
        #expect(ratios.min()! > 0.48 && ratios.min()! < 0.6)
        #expect(ratios.max()! > 1.7 && ratios.max()! < 2.1)
    }

    @Test(arguments: [(300, 20), (20, 300), (1, 1), (64, 64)])
    func cropsOfAnyPhotoStayWithinIt(_ width: Int, _ height: Int) {
        var settings = TrainingConfiguration.DataSettings()
        (settings.minimumArea, settings.ratio) = (0.9, 1.2)
        let photo = Image(width: width, height: height, red: 10, green: 20, blue: 30)
        for index in 0..<50 {
            let crop = Augmentation(seed: 1, epoch: 2, index: index, settings: settings)
                .apply(to: photo, side: 32)
            #expect(crop == Image(width: 32, height: 32, red: 10, green: 20, blue: 30))
        }
    }

    @Test func stepsHaveCropsOfSeveralSides() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let batches = try batches(scratch, ["data.other_crops=64 32 96"], count: 40)
        let sides = Dictionary(grouping: batches.map(\.side), by: \.self).mapValues(\.count)
        #expect(Set(sides.keys) == [32, 64, 96] && sides.values.allSatisfy { $0 > 5 })
        let alone = try scratch.source(scratch.configuration("data.crop=64"))
        let step = try #require(batches.firstIndex { $0.side == 64 })
        #expect(try alone.batch(step: step).side == 64)
    }

    /// Weights and the optimizer's state go on from one side to another, and from a checkpoint.
    @Test func trainsOnSeveralSidesAndResumes() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let settings = ["data.other_crops=64", "optimizer.ema=0.9", "steps=8"]
        let whole = try TrainingRun(scratch.configuration(settings))
        #expect(try whole.run() == .finished)
        let moved = settings + ["output=\(scratch.path)/parts"]
        _ = try TrainingRun(scratch.configuration(moved)).run(until: 3)
        let rest = try TrainingRun(scratch.configuration(moved), from: .resumed)
        #expect(try rest.run() == .finished)
        #expect(rest.state.step.variables == whole.state.step.variables)
        let one = try TrainingRun(
            scratch.configuration(["steps=8", "output=\(scratch.path)/one"]))
        _ = try one.run()
        #expect(one.state.step.variables != whole.state.step.variables)
    }

    /// The weights of one side are those that the other has learned.
    @Test func weightsMoveFromOneSideToTheOther() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let run = try TrainingRun(scratch.configuration("data.other_crops=64"), from: .trial)
        let first = run.state.step.variables
        let batches = try (0..<20).map { try run.source.batch(step: $0) }
        func step(_ side: Int, rate: Double) throws {
            let batch = try #require(batches.first { $0.side == side })
            let settings = TrainingStep.Settings(
                learningRates: [rate], averageDecay: 0, teacherShare: 0, applies: true)
            #expect(try run.state.step.run(batch, settings).isFinite)
        }
        for (side, other) in [(64, 32), (32, 64)] {
            try step(side, rate: 1e-2)
            let learned = run.state.step.variables
            try step(other, rate: 0)
            for name in run.state.step.parameterNames {
                #expect(run.state.step.variables[name] == learned[name], "\(name)")
            }
        }
        #expect(
            run.state.step.parameterNames.contains { run.state.step.variables[$0] != first[$0] })
    }

    @Test(arguments: ["64 31", "", "a", "64,96", "32 32 32 32 32 32 32 32 32"])
    func refusesOtherSides(_ text: String) {
        var configuration = TrainingConfiguration()
        guard !text.isEmpty else {
            // As null.
            try? configuration.set("data.other_crops=")
            return #expect(configuration.data.otherCrops == nil)
        }
        #expect(throws: TrainingError.self) { try configuration.set("data.other_crops=\(text)") }
    }

    // MARK: Light

    @Test func lightChangesInputAndTargetTogether() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let plain = try batches(scratch, [])
        for setting in ["data.exposure=1", "data.white_balance=0.5", "data.gray_world=1"] {
            let lit = try batches(scratch, [setting])
            for (one, other) in zip(plain, lit) {
                #expect(one.target != other.target && one.lightness != other.lightness)
            }
        }
        #expect(try batches(scratch, ["data.minimum_scale=0.5"]) == plain)
    }

    private func lit(
        _ change: (inout TrainingConfiguration.DataSettings) -> Void, _ photo: Image,
        count: Int = 200
    ) -> [SIMD3<Double>] {
        var settings = TrainingConfiguration.DataSettings()
        change(&settings)
        return (0..<count).map { index in
            let augmentation = Augmentation(seed: 1, epoch: 0, index: index, settings: settings)
            return meanLight(of: augmentation.apply(to: photo, side: 32).pixels)
        }
    }

    @Test func exposureIsInStops() {
        let gray = Image(width: 40, height: 40, red: 100, green: 100, blue: 100)
        let light = lit({ $0.exposure = 1 }, gray).map { $0.x / meanLight(of: gray.pixels).x }
        #expect(light.min()! > 0.49 && light.min()! < 0.55)
        #expect(light.max()! < 2.02 && light.max()! > 1.8)
    }

    @Test func whiteBalanceKeepsTheLuminanceOfGray() {
        let gray = Image(width: 40, height: 40, red: 100, green: 100, blue: 100)
        let own = meanLight(of: gray.pixels).x
        var ratios: [Double] = []
        for light in lit({ $0.whiteBalance = 0.5 }, gray) {
            let luminance = (light * SIMD3(0.212671, 0.715160, 0.072169)).sum()
            #expect(abs(luminance / own - 1) < 0.01)
            ratios.append(light.x / light.z)
        }
        #expect(ratios.max()! > 1.5 && ratios.max()! < 1.5 * 1.5 * 1.02)
        #expect(ratios.min()! < 1 / 1.5 && ratios.min()! > 1 / (1.5 * 1.5 * 1.02))
    }

    @Test func grayWorldMakesTheMeanGrayWithinBounds() {
        let warm = Image(width: 40, height: 40, red: 120, green: 100, blue: 80)
        for light in lit({ $0.grayWorld = 1 }, warm, count: 3) {
            #expect(abs(light.x / light.y - 1) < 0.02 && abs(light.z / light.y - 1) < 0.02)
        }
        let red = Image(width: 40, height: 40, red: 250, green: 20, blue: 20)
        for light in lit({ $0.grayWorld = 1 }, red, count: 3) { #expect(light.x > 5 * light.y) }
        let half = lit({ $0.grayWorld = 0.5 }, warm).count { abs($0.x / $0.y - 1) < 0.02 }
        #expect((70...130).contains(half))
    }

    // MARK: Grounds

    @Test func cutOutsLieOnPlainGroundsInTheirShare() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let objects = "\(scratch.path)/objects"
        try FileManager.default.createDirectory(atPath: objects, withIntermediateDirectories: true)
        try Image(width: 30, height: 20, red: 250, green: 0, blue: 0)
            .write(to: "\(objects)/red.png")
        let pasted = ["data.cutouts=\(objects)", "data.cutout_share=1", "batch=1"]
        let photos = try batches(scratch, pasted, count: 60)
        // The color of most pixels; photos are noisy.
        func ground(_ batch: Batch) -> [Float]? {
            let area = 32 * 32
            let colors = (0..<area).map { pixel in
                [
                    batch.lightness.scalars[pixel], batch.target.scalars[pixel],
                    batch.target.scalars[area + pixel],
                ]
            }
            let counts = Dictionary(grouping: colors, by: \.self).mapValues(\.count)
            let others = counts.filter { $0.key[1] < 0.5 }.max { $0.value < $1.value }
            return others.flatMap { $0.value > 60 ? $0.key : nil }
        }
        #expect(photos.allSatisfy { ground($0) == nil })
        let half = try batches(scratch, pasted + ["data.cutout_grounds=0.5"], count: 60)
        #expect((18...42).contains(half.count { ground($0) != nil }))
        let grounds = try batches(scratch, pasted + ["data.cutout_grounds=1"], count: 60)
            .map { try #require(ground($0)) }
        let white = grounds.count { $0[0] > 92 && abs($0[1]) < 0.01 && abs($0[2]) < 0.01 }
        let colored = grounds.count { max(abs($0[1]), abs($0[2])) > 5 / 110 }
        #expect((12...36).contains(white) && (8...28).contains(colored))
        // Objects lie where they lay: what is not ground is the same on both.
        for (photo, plain) in zip(photos, half) {
            guard let color = ground(plain) else { continue }
            let object = (0..<32 * 32).filter { plain.target.scalars[$0] != color[1] }
            #expect(object.count > 20)
            #expect(
                object.allSatisfy { photo.target.scalars[$0] == plain.target.scalars[$0] })
        }
    }

    // MARK: Old photos

    private static let damage = [
        "old_photo.grain=0.5", "old_photo.jpeg=0.5", "old_photo.scratches=0.5",
        "old_photo.fading=0.5",
    ]

    @Test func ageChangesTheInputAlone() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let plain = try batches(scratch, [])
        let old = try batches(scratch, Self.damage)
        #expect(zip(plain, old).allSatisfy { $0.target == $1.target })
        #expect(zip(plain, old).count { $0.lightness != $1.lightness } > 9)
        // A teacher sees the photos as they were.
        for (one, other) in zip(plain, old) {
            #expect(other.undamagedLightness == one.lightness)
            #expect(one.undamagedLightness == one.lightness)
        }
    }

    @Test func ranksShareOutTheSameExamples() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let settings =
            Self.damage + [
                "batch=4", "data.exposure=1", "data.minimum_area=0.3", "data.white_balance=0.4",
            ]
        let whole = try scratch.source(scratch.configuration(settings)).batch(step: 3)
        let parts = try onRanks(2) { ranks in
            try scratch.source(scratch.configuration(settings), ranks: ranks).batch(step: 3)
        }
        #expect(parts.flatMap(\.lightness.scalars) == whole.lightness.scalars)
        #expect(parts.flatMap(\.target.scalars) == whole.target.scalars)
    }

    @Test func trainsOnOldPhotosWithATeacher() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let first = try TrainingRun(scratch.configuration("output=\(scratch.path)/teacher"))
        _ = try first.run()
        let settings =
            Self.damage + [
                "distillation.teacher=\(scratch.path)/teacher/last.h5", "loss.neutral=2",
                "data.minimum_area=0.3",
            ]
        let run = try TrainingRun(scratch.configuration(settings))
        #expect(try run.run() == .finished)
    }

    @Test func validationPhotosAreDamagedOnRequest() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(3)
        try FileManager.default.copyItem(
            atPath: scratch.path("photos/0.png"), toPath: scratch.path("photos/3.png"))
        let checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 3)
        let measure = { (settings: [String]) in
            let photos = try PhotoReference.list("\(scratch.path)/photos")
            let validator = try Validator(
                try checkpoint.network.make(), scratch.configuration(settings), photos: photos)
            let metrics = try #require(try validator.measure(checkpoint.variables) { false })
            return (metrics: metrics, samples: validator.samples)
        }
        let damage = ["old_photo.fading=1", "old_photo.blur=1"]
        let (plain, damaged) = (
            try measure([]), try measure(damage + ["old_photo.validation=true"])
        )
        #expect(try measure(damage).metrics == plain.metrics)
        #expect(try measure(damage + ["old_photo.validation=true"]).metrics == damaged.metrics)
        #expect(damaged.metrics.loss != plain.metrics.loss)
        // Equal photos have damage of their own.
        for (samples, areEqual) in [(plain.samples, true), (damaged.samples, false)] {
            #expect(samples.count == 4 && samples[0].photo == samples[3].photo)
            #expect((samples[0].estimate == samples[3].estimate) == areEqual)
        }
        // The colors that the network finds for a copy are put onto the photo itself.
        for (one, other) in zip(damaged.samples, plain.samples) {
            #expect(one.photo == other.photo && one.estimate != other.estimate)
            let difference = zip(
                lab(fromRGB: one.estimate.pixels).l, lab(fromRGB: one.photo.pixels).l
            ).map { abs($0 - $1) }.max()
            #expect(try #require(difference) < 3)
        }
    }

    @Test(arguments: [
        "old_photo.jpeg_quality=0", "old_photo.grain=1.1", "old_photo.fading_strength=1",
        "old_photo.dust_count=0", "old_photo.blur_deviation=nan", "data.exposure=4",
        "data.ratio=0.5", "data.minimum_area=0", "data.white_balance=-1", "loss.neutral=-1",
        "loss.neutral_chroma=0", "data.cutout_grounds=2",
    ])
    func refusesWhatIsOutOfRange(_ setting: String) {
        var configuration = TrainingConfiguration()
        #expect(throws: TrainingError.self) { try configuration.set(setting) }
    }

    // MARK: Neutral pixels

    @Test func grayPixelsWeighMoreInClassification() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(3)
        // The first of each 4 × 4 pixels counts: chromas of 0, 5, 10 and 40.
        var scalars = [Float](repeating: 0, count: 2 * 8 * 8)
        for (place, color) in [(4, (3, 4)), (32, (10, 0)), (36, (0, 40))] as [(Int, (Float, Float))]
        {
            (scalars[place], scalars[64 + place]) = (color.0 / 110, color.1 / 110)
        }
        let target = TensorData(shape: [1, 2, 8, 8], scalars: scalars)
        let weights = try ["0", "3"].map { neutral in
            let configuration = try scratch.configuration(
                "loss.kind=classification", "loss.rebalance=null", "loss.neutral=\(neutral)",
                "architecture=class-unet")
            let classes = try #require(
                ClassTargets(
                    ClassUNet(), configuration.loss,
                    photos: PhotoCache([], shortSide: 64, maximumBytes: 0), side: 32))
            return try #require(classes.inputs(for: target)[.classWeights]).scalars
        }
        #expect(weights[0] == [1, 1, 1, 1])
        for (weight, expected) in zip(weights[1], [4, 2.5, 1, 1] as [Float]) {
            #expect(abs(weight - expected) < 1e-5)
        }
    }
}
