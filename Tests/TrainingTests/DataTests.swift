import Foundation
import RetintImages
import RetintPhotoData
import RetintTestSupport
import Testing

@testable import RetintTraining

@Suite struct DataTests {
    @Test func batchesDependOnSeedAndStepAlone() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let configuration = try scratch.configuration()
        let source = try scratch.source(configuration)
        let batches = try (0..<6).map { try source.batch(step: $0) }
        #expect(Set(batches).count == 6)
        let loader = BatchLoader(
            try scratch.source(configuration), steps: 2..<6, threads: 2)
        defer { loader.stop() }
        for step in 2..<6 { #expect(try loader.take() == batches[step]) }
        let other = try scratch.source(scratch.configuration("seed=1"))
        #expect(try other.batch(step: 0) != batches[0])
    }

    @Test func cacheDoesNotChangeWhatIsLearned() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(3, side: 100)
        let batches = try ["0", "64"].map { size in
            let configuration = try scratch.configuration("data.cache_megabytes=\(size)")
            let source = try scratch.source(configuration)
            _ = try source.batch(step: 0)
            return try source.batch(step: 0)
        }
        #expect(batches[0] == batches[1])
    }

    @Test func tonesChangeOnlyLightnessAndStayInItsRange() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let batches = try ["0", "0.4"].map { amount in
            let configuration = try scratch.configuration(
                "data.lightness=\(amount)", "data.contrast=\(amount)")
            let source = try scratch.source(configuration)
            return try source.batch(step: 3)
        }
        #expect(batches[0].target == batches[1].target)
        #expect(batches[0].lightness != batches[1].lightness)
        #expect(batches[1].lightness.scalars.allSatisfy { (0...100).contains($0) })
        #expect(Tone(shift: 10, contrast: 0.5).apply(to: [0, 50, 100]) == [35, 60, 85])
    }

    @Test func cutOutsArePastedIntoTheirShareOfTheCrops() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let objects = "\(scratch.path)/objects"
        try FileManager.default.createDirectory(
            atPath: objects, withIntermediateDirectories: true)
        // An opaque image covers its whole rectangle.
        try Image(width: 30, height: 20, red: 250, green: 0, blue: 0)
            .write(to: "\(objects)/red.png")
        func batches(_ share: String) throws -> [Batch] {
            let source = try scratch.source(
                scratch.configuration(
                    "data.cutouts=\(objects)", "data.cutout_share=\(share)", "batch=1"))
            let batches = try (0..<40).map { try source.batch(step: $0) }
            #expect(try source.batch(step: 7) == batches[7])
            return batches
        }
        let plain = try batches("0")
        let counts = try ["0.5", "1"].map { share in
            zip(plain, try batches(share)).filter { plain, laid in
                zip(plain.target.scalars, laid.target.scalars).filter { $0 != $1 }.count > 100
            }.count
        }
        #expect((10...30).contains(counts[0]))
        #expect(counts[1] == 40)
    }

    @Test func foldersWithoutCutOutsAreRefused() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let empty = "\(scratch.path)/empty"
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
        let configuration = try scratch.configuration("data.cutouts=\(empty)")
        let error = #expect(throws: TrainingError.self) { try scratch.source(configuration) }
        #expect(error?.description.contains("cut-outs") == true)
    }

    @Test func splitKeepsEveryPhotoOnOneSide() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(20)
        let few = try PhotoFolder(scratch.configuration("data.validation_fraction=0.3").data)
        #expect(!few.validation.isEmpty && !few.training.isEmpty)
        #expect(Set(few.validation).isDisjoint(with: few.training))
        #expect(few.validation.count + few.training.count == 20)
        try scratch.addPhotos(24)
        let more = try PhotoFolder(scratch.configuration("data.validation_fraction=0.3").data)
        #expect(Set(few.training).isSubset(of: more.training))
    }

    @Test func everyPassTakesEveryPhotoOnce() {
        let order = EpochOrder(seed: 3, shards: [Array(0..<50)], window: 1)
        let passes = [(0, 0), (0, 1), (1, 0)].map { order.pass($1, epoch: $0) }
        for pass in passes { #expect(pass.sorted() == Array(0..<50)) }
        #expect(Set(passes).count == 3)
    }

    @Test(arguments: [(0.0, [40, 9, 1]), (0.5, [31, 14, 5]), (1.0, [17, 16, 17])])
    func sourcesAreSeenAsOftenAsTheirBalanceSays(balance: Double, counts: [Int]) {
        let sources = [Array(0..<40), Array(40..<49), [49]]
        let balance = SourceBalance(sources: sources, balance: balance)
        #expect(balance.counts == counts)
        let order = EpochOrder(
            seed: 3, shards: [Array(0..<50)], window: 1, balance: balance, epochPasses: 2)
        let passes = [(0, 0), (0, 1), (1, 0), (1, 1)].map { order.pass($1, epoch: $0) }
        #expect(Set(passes).count == 4)
        for pass in passes {
            for (source, count) in zip(sources, counts) {
                #expect(pass.filter(source.contains).count == count)
            }
        }
        // No photo of a source is seen more than once more than another.
        for source in sources {
            let seen = source.map { photo in passes.joined().filter { $0 == photo }.count }
            #expect(seen.max()! - seen.min()! <= 1)
        }
    }

    @Test func sourcesAreFolders() throws {
        let photos = ["a/1.jpg", "b/2.jpg", "a/3.jpg"].map { PhotoReference.file($0) }
        let balance = try SourceBalance(of: photos, balance: 1)
        #expect(balance.sources == [[0, 2], [1]])
        let error = #expect(throws: TrainingError.self) {
            try SourceBalance(of: Array(photos.filter { $0 != photos[1] }), balance: 1)
        }
        #expect(error?.description.contains("all in one folder") == true)
    }

    @Test(arguments: [(30, 90), (200, 64), (1, 1)])
    func cropsStayWithinThePhoto(_ width: Int, _ height: Int) {
        var settings = TrainingConfiguration.DataSettings()
        settings.minimumScale = 0.05
        let photo = Image(width: width, height: height, red: 10, green: 20, blue: 30)
        for index in 0..<50 {
            let augmentation = Augmentation(seed: 1, epoch: 2, index: index, settings: settings)
            let crop = augmentation.apply(to: photo, side: 32)
            #expect(crop == Image(width: 32, height: 32, red: 10, green: 20, blue: 30))
        }
    }
}
