import Foundation
import RetintCheckpoints
import RetintDistributed
import RetintPhotoData
import RetintTestSupport
import Testing

@testable import RetintTraining

/// Training on packed datasets in shards.
@Suite(.serialized) struct ShardTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    /// Packs new photos, as one file and in shards.
    private func pack(_ photos: Int, shards: Int) throws {
        try scratch.addPhotos(photos)
        let photos = try PhotoReference.list(scratch.path("photos"))
        try PhotoPack.write(photos, to: scratch.path("one.h5"), shortSide: 64)
        try PhotoPack.write(photos, toShards: shards, in: scratch.path("shards"), shortSide: 64)
    }

    private func configuration(_ settings: String...) throws -> TrainingConfiguration {
        try scratch.configuration(
            ["data.train=\(scratch.path)/shards", "data.validation_fraction=0"] + settings)
    }

    // MARK: Order

    @Test(arguments: [(23, 5, 2), (24, 8, 3), (7, 7, 1), (10, 3, 2)])
    func photosOfAFewShardsAreShuffledTogether(photos: Int, shards: Int, window: Int) {
        let all = Array(0..<photos)
        let parts = (0..<shards).map { shard in all.filter { $0 % shards == shard } }
        let order = EpochOrder(seed: 3, shards: parts, window: window)
        let passes = [(0, 0), (0, 1), (1, 0)].map { order.pass($1, epoch: $0) }
        #expect(Set(passes).count == 3)
        for pass in passes {
            #expect(pass.sorted() == all)
            let spans = (0..<shards).compactMap { shard -> ClosedRange<Int>? in
                let places = pass.indices.filter { pass[$0] % shards == shard }
                return places.first.flatMap { first in places.last.map { first...$0 } }
            }
            let open = pass.indices.map { place in spans.filter { $0.contains(place) }.count }
            #expect(open.allSatisfy { (1...window).contains($0) })
        }
        #expect(Set(passes.map { $0[0] % shards }).count > 1)
    }

    @Test func shardsThatAreAllShuffledTogetherAreAsOneFile() throws {
        try pack(11, shards: 4)
        let one = try scratch.source(configuration("data.train=\(scratch.path)/one.h5"))
        for window in ["4", "null"] {
            let source = try scratch.source(configuration("data.shuffle_shards=\(window)"))
            for step in 0..<8 {
                #expect(try source.batch(step: step) == one.batch(step: step))
            }
        }
        let windows = try scratch.source(configuration("data.shuffle_shards=2"))
        #expect(try windows.batch(step: 0) != one.batch(step: 0))
    }

    /// Neither ranks nor steps divide the photos.
    @Test(arguments: [1, 2, 3])
    func noPhotoIsLostOrDoubledInAnEpoch(size: Int) throws {
        try pack(11, shards: 5)
        let configuration = try configuration("batch=4", "data.shuffle_shards=2")
        let scratch = scratch
        let parts = try onRanks(size) { ranks in
            let source = try scratch.source(configuration, ranks: ranks)
            return (0..<11).map { source.photoIndices(step: $0) }
        }
        let whole = try scratch.source(configuration)
        let all = (0..<11).flatMap { step in parts.flatMap { $0[step] } }
        #expect(all == (0..<11).flatMap { whole.photoIndices(step: $0) })
        for epoch in 0..<4 {
            #expect(all[11 * epoch..<11 * (epoch + 1)].sorted() == Array(0..<11))
        }
        #expect(whole.epoch(afterSteps: 2) == 0 && whole.epoch(afterSteps: 3) == 1)
    }

    @Test func epochsOfAGivenLengthBeginAnew() throws {
        try pack(11, shards: 5)
        let source = try scratch.source(configuration("batch=4", "epoch_steps=2"))
        let epochs = (0..<3).map { epoch in
            (0..<2).flatMap { source.photoIndices(step: 2 * epoch + $0) }
        }
        for epoch in epochs { #expect(Set(epoch).count == 8) }
        #expect(source.epoch(afterSteps: 5) == 2)
    }

    // MARK: Training

    private func train(
        _ ranks: Int, _ configuration: TrainingConfiguration, to output: String,
        from start: TrainingStart = .fresh, until end: Int? = nil
    ) throws {
        var configuration = configuration
        (configuration.output, configuration.threads) = (scratch.path(output), 1)
        let own = configuration
        _ = try onRanks(ranks) { try TrainingRun(own, from: start, ranks: $0).run(until: end) }
    }

    private func last(_ output: String) throws -> Checkpoint {
        try Checkpoint(contentsOf: scratch.path("\(output)/last.h5"))
    }

    @Test func twoRanksTrainOnShardsAsOnOneFile() throws {
        try pack(9, shards: 4)
        let one = try configuration("batch=4", "data.train=\(scratch.path)/one.h5")
        try train(2, one, to: "one")
        try train(2, configuration("batch=4"), to: "sharded")
        let (first, second) = (try last("one"), try last("sharded"))
        #expect(first.state == second.state && first.optimizer == second.optimizer)
    }

    @Test(arguments: [1, 2])
    func aRunGoesOnAmidstAnEpoch(ranks: Int) throws {
        try pack(9, shards: 5)
        let configuration = try configuration("batch=4", "data.shuffle_shards=2", "steps=7")
        try train(ranks, configuration, to: "whole")
        try train(ranks, configuration, to: "parts", until: 3)
        try train(ranks, configuration, to: "parts", from: .resumed)
        let (first, second) = (try last("whole"), try last("parts"))
        #expect(first.state == second.state && first.optimizer == second.optimizer)
    }

    @Test func otherShardsAreOtherPhotos() throws {
        try pack(9, shards: 5)
        let configuration = try configuration()
        let before = try PhotoFolder(configuration.data)
        #expect(try PhotoFolder(configuration.data).fingerprint == before.fingerprint)
        try pack(9, shards: 4)
        #expect(try PhotoFolder(configuration.data).fingerprint != before.fingerprint)
        try FileManager.default.removeItem(
            atPath: scratch.path("shards/photos-00002-of-00004.h5"))
        let error = #expect(throws: PhotoError.self) { try PhotoFolder(configuration.data) }
        #expect(error?.kind == .shard)
        #expect(error?.description.contains("shards/photos-00002-of-00004.h5: is missing") == true)
    }
}
