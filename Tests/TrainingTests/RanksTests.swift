import Foundation
import RetintCheckpoints
import RetintDistributed
import RetintGraph
import RetintLayers
import RetintPhotoData
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

/// Training on several ranks, which are threads here.
@Suite(.serialized) struct RanksTests {
    /// Trains on some ranks, each with a run of its own.
    ///
    /// - Parameter onGPUs: whether each rank has a GPU of its own, which is a mock.
    /// - Returns: the losses of all steps, as rank 0 reports them.
    @discardableResult
    private static func train(
        _ size: Int, _ configuration: TrainingConfiguration, from start: TrainingStart = .fresh,
        until end: Int? = nil, stopping: (rank: Int, step: Int)? = nil, onGPUs: Bool = false
    ) throws -> [Double] {
        if onGPUs { MockCUDA.install() }
        // A pool of more threads would be shared by all ranks, and kept while one waits.
        var configuration = configuration
        configuration.threads = 1
        let own = configuration
        return try onRanks(size) { ranks in
            var (losses, last, own) = ([Double](), 0, own)
            if onGPUs { own.device = .cuda(index: ranks.rank) }
            let run = try TrainingRun(own, from: start, ranks: ranks) { event in
                if case .step(let step, let loss) = event {
                    losses.append(loss)
                    last = step
                }
            }
            let outcome = try run.run(until: end) {
                stopping.map { $0.rank == ranks.rank && last >= $0.step } ?? false
            }
            #expect(outcome == (stopping == nil ? .finished : .interrupted))
            return losses
        }[0]
    }

    private static func last(_ folder: TemporaryFolder) throws -> Checkpoint {
        // The folder is removed with its object.
        try withExtendedLifetime(folder) { try Checkpoint(contentsOf: folder.path("run/last.h5")) }
    }

    /// Of weights; running statistics depend more on rounding.
    private static func largestDifference(_ first: Checkpoint, _ second: Checkpoint) -> Double {
        let (first, second) = (first.variables, second.variables)
        return first.filter { !$0.key.contains("running") }.reduce(0) { largest, entry in
            let other = second[entry.key]?.scalars ?? []
            return zip(entry.value.scalars, other).reduce(largest) {
                max($0, Double(abs($1.0 - $1.1)))
            }
        }
    }

    private static func fresh(_ photos: Int = 9) throws -> TemporaryFolder {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(photos)
        return scratch
    }

    /// Settings whose results depend little on rounding: at higher rates, even one rank on one and
    /// on two threads drifts apart within some steps.
    private static let steady = [
        "width=0.5", "data.crop=64", "loss.kind=huber", "optimizer.kind=sgd",
        "optimizer.learning_rate=0.0001", "threads=1", "batch_norm=synchronized",
    ]

    /// The whole configuration and its step on one rank, and the same shared out.
    @Test(arguments: [(2, 4), (3, 7), (2, 5)])
    func ranksTrainAsOneDoes(size: Int, batch: Int) throws {
        let settings =
            Self.steady + [
                "batch=\(batch)", "steps=8", "optimizer.clip_grad_norm=1", "loss.adversarial=0.1",
                "loss.adversarial_width=4",
            ]
        let (one, many) = (try Self.fresh(), try Self.fresh())
        let expected = try Self.train(1, one.configuration(settings))
        let losses = try Self.train(size, many.configuration(settings))
        #expect(losses.count == expected.count)
        for (loss, other) in zip(losses, expected) {
            #expect(abs(loss - other) <= 1e-5 * abs(other), "\(loss) instead of \(other)")
        }
        let difference = Self.largestDifference(try Self.last(one), try Self.last(many))
        #expect(difference <= 1e-4)
    }

    /// Half the bytes, nearly the same losses; and what rounding lost is resumed, too.
    @Test func compressedGradientsLoseLittleAndResume() throws {
        let settings = Self.steady + ["batch=4", "steps=6", "accumulate=2"]
        let (plain, whole, parts) = (try Self.fresh(), try Self.fresh(), try Self.fresh())
        let expected = try Self.train(2, plain.configuration(settings))
        let compressed = settings + ["gradient_compression=float16"]
        let losses = try Self.train(2, whole.configuration(compressed))
        for (loss, other) in zip(losses, expected) {
            #expect(abs(loss - other) <= 1e-3 * abs(other))
        }
        let configuration = try parts.configuration(compressed)
        _ = try onRanks(2) { try TrainingRun(configuration, ranks: $0).run(until: 3) }
        try Self.train(2, configuration, from: .resumed)
        let (first, second) = (try Self.last(whole), try Self.last(parts))
        #expect(first.state == second.state && first.optimizer == second.optimizer)
        let residuals = first.optimizer.filter { $0.0.hasPrefix("optimizer.residual.1.") }
        #expect(!residuals.isEmpty)
        // Another number of ranks takes them over.
        let longer = try parts.configuration(compressed + ["steps=8"])
        #expect(try Self.train(3, longer, from: .resumed).count == 2)
    }

    /// Gradients, moments of batches and rounding errors go by way of this machine's memory.
    @Test(arguments: [
        [], ["batch=5", "batch_norm=per_rank", "optimizer.clip_grad_norm=1"],
        ["gradient_compression=float16"],
    ])
    func ranksOnGPUsTrainAsOnTheCPU(_ settings: [String]) throws {
        let all = Self.steady + ["batch=4", "steps=3"] + settings
        let (one, other) = (try Self.fresh(), try Self.fresh())
        let expected = try Self.train(3, one.configuration(all))
        let losses = try Self.train(3, other.configuration(all), onGPUs: true)
        #expect(losses.count == 3)
        for (loss, other) in zip(losses, expected) {
            #expect(abs(loss - other) <= 1e-4 * abs(other), "\(loss) instead of \(other)")
        }
        let (first, second) = (try Self.last(one), try Self.last(other))
        #expect(Self.largestDifference(first, second) <= 1e-4)
        // They go on on the CPU.
        let longer = try other.configuration(all + ["steps=4"])
        #expect(try Self.train(2, longer, from: .resumed).count == 1)
    }

    @Test func averagesOfStatisticsAreThoseOfTheFirstRank() throws {
        let scratch = try Self.fresh()
        let configuration = try scratch.configuration(
            "batch=4", "steps=3", "optimizer.ema=0.9", "save_every=1",
            "data.validation=\(scratch.path)/photos", "validate_every=1")
        #expect(try Self.train(2, configuration).count == 3)
    }

    @Test func withoutSynchronizationTheMomentsAreThoseOfEachRank() throws {
        let (one, many) = (try Self.fresh(), try Self.fresh())
        let settings = ["batch=4", "steps=3", "threads=1"]
        let single = try Self.train(1, one.configuration(settings))
        let shared = try Self.train(2, many.configuration(settings))
        #expect(abs(single[0] - shared[0]) > 1e-4 * single[0])
    }

    @Test func theSameBitsEachTimeAndOneFolder() throws {
        let settings = ["batch=4", "steps=5", "optimizer.ema=0.9", "batch_norm=synchronized"]
        let runs = [try Self.fresh(), try Self.fresh()]
        for run in runs { try Self.train(2, run.configuration(settings)) }
        let (first, second) = (try Self.last(runs[0]), try Self.last(runs[1]))
        #expect(first.state == second.state && first.optimizer == second.optimizer)
        let text = try withExtendedLifetime(runs) {
            try String(contentsOfFile: runs[0].path("run/metrics.jsonl"), encoding: .utf8)
        }
        let records = try text.split(separator: "\n").map {
            try JSONDecoder().decode(MetricsRecord.self, from: Data($0.utf8))
        }
        #expect(records.filter { $0.kind == "train" }.map(\.step) == Array(1...5))
        #expect(records.first?.communicationShares?.count == 2)
        #expect(records.first?.communicationShares?.allSatisfy { (0...1).contains($0) } == true)
    }

    /// Which photos, and with it their augmentation, does not depend on the number of ranks.
    @Test(arguments: [1, 2, 3, 5])
    func ranksMakeTheBatchTogether(size: Int) throws {
        let scratch = try Self.fresh()
        let configuration = try scratch.configuration("batch=5", "data.contrast=0.2")
        let whole = try scratch.source(configuration)
        let parts = try onRanks(size) { ranks in
            let source = try scratch.source(configuration, ranks: ranks)
            return try (0..<4).map { try source.batch(step: $0).lightness.scalars }
        }
        for step in 0..<4 {
            let expected = try whole.batch(step: step).lightness.scalars
            #expect(parts.flatMap { $0[step] } == expected)
        }
    }

    /// Photos that cannot be read move others to batches of other ranks.
    @Test(arguments: [[], [0, 6], [9, 10]])
    func validationIsThatOfOneProcess(broken: [Int]) throws {
        let scratch = try Self.fresh(11)
        for number in broken {
            try Data("no photo".utf8)
                .write(to: URL(filePath: scratch.path("photos/\(number).png")))
        }
        let configuration = try scratch.configuration(
            "batch=3", "data.validation=\(scratch.path)/photos", "old_photo.grain=0.7",
            "old_photo.validation=true")
        let measure = { @Sendable (ranks: Communicator) in
            let photos = try PhotoFolder(configuration.data).validation
            let checkpoint = try Checkpoint(
                .named("mobile-unet", .init(width: 0.25)), seed: 3)
            let validator = try Validator(
                try checkpoint.network.make(), configuration, photos: photos, ranks: ranks)
            let metrics = try validator.measure(checkpoint.variables) { false }
            return (metrics, validator.samples, validator.badPhotos)
        }
        let expected = try measure(.single)
        #expect(expected.0?.photos == 11 - broken.count && expected.1.count == 8)
        #expect(expected.2.count == broken.count)
        for size in [2, 3, 5] {
            let results = try onRanks(size, measure)
            for result in results { #expect(result.0 == expected.0 && result.2 == expected.2) }
            #expect(results[0].1.map(\.estimate) == expected.1.map(\.estimate))
            #expect(results[0].1.map(\.photo) == expected.1.map(\.photo))
        }
    }

    @Test func ranksReadTheValidationPhotosThatTheyMeasure() throws {
        let scratch = try Self.fresh(7)
        let photos = try PhotoReference.list("\(scratch.path)/photos")
        let whole = try ValidationCrops(photos, side: 32, batch: 2, over: .single)
        let parts = try onRanks(3) {
            try ValidationCrops(photos, side: 32, batch: 2, over: $0)
        }
        for batch in 0..<4 {
            #expect(whole.images(ofBatch: batch).count == (batch == 3 ? 1 : 2))
            for (rank, part) in parts.enumerated() {
                let own = batch % 3 == rank ? whole.images(ofBatch: batch) : []
                #expect(part.images(ofBatch: batch) == own)
            }
        }
    }

    @Test func validationPhotosThatNoneCanReadEndTheRun() throws {
        let scratch = try TemporaryFolder()
        try Data("no photo".utf8).write(to: URL(filePath: scratch.path("a.png")))
        for size in [1, 2] {
            let error = #expect(throws: TrainingError.self) {
                try onRanks(size) {
                    try ValidationCrops(
                        [.file(scratch.path("a.png"))], side: 32, batch: 2, over: $0)
                }
            }
            #expect(error?.description.contains("a.png") == true)
        }
    }

    @Test func oneRankStopsAll() throws {
        let scratch = try Self.fresh()
        let configuration = try scratch.configuration(
            "batch=6", "steps=100000", "log_every=1000",
            "validate_every=100000")
        let losses = try Self.train(3, configuration, stopping: (rank: 2, step: 3))
        #expect((4...5).contains(losses.count))
        #expect(
            TrainingProgress(json: try Self.last(scratch).training ?? "")?.step == losses.count
        )
    }

    /// 4 ranks go on as 2 and as 8: with the same batches, and nearly the same losses.
    @Test(arguments: [2, 8])
    func anotherNumberOfRanksGoesOn(size: Int) throws {
        let settings = Self.steady + ["batch=8", "steps=6"]
        let (whole, parts) = (try Self.fresh(), try Self.fresh())
        let expected = try Self.train(4, whole.configuration(settings))
        let configuration = try parts.configuration(settings)
        _ = try onRanks(4) { ranks in
            try TrainingRun(configuration, ranks: ranks).run(until: 3)
        }
        let rest = try Self.train(size, configuration, from: .resumed)
        #expect(rest.count == 3)
        for (loss, other) in zip(rest, expected.dropFirst(3)) {
            #expect(abs(loss - other) <= 1e-4 * abs(other))
        }
    }

    @Test func ranksThatDifferAreNamed() throws {
        let scratch = try Self.fresh()
        let configurations = try ["seed=0", "seed=1"].map {
            try scratch.configuration("batch=6", $0)
        }
        let error = #expect(throws: TrainingError.self) {
            try onRanks(3) { ranks in
                try TrainingRun(configurations[ranks.rank == 2 ? 1 : 0], ranks: ranks).run()
            }
        }
        #expect(error?.kind == .ranksDiffer)
        #expect(error?.description.contains("rank 2") == true)
        #expect(error?.description.contains("seed: 1 (was 0)") == true)
    }

    @Test func aBatchGivesEachRankACrop() throws {
        let scratch = try Self.fresh()
        let error = #expect(throws: TrainingError.self) {
            try onRanks(3) { try TrainingRun(scratch.configuration("batch=2"), ranks: $0).run() }
        }
        #expect(error?.description.contains("3 ranks") == true)
        let each = try onRanks(3) {
            try TrainingRun(scratch.configuration("batch_per_rank=2"), ranks: $0).configuration
                .batch
        }
        #expect(each == [6, 6, 6])
    }

    @Test func ranksDoNotMeasureAlgorithms() throws {
        let scratch = try Self.fresh()
        let error = #expect(throws: TrainingError.self) {
            try onRanks(2) { try TrainingRun(scratch.configuration("tune=true"), ranks: $0).run() }
        }
        #expect(error?.description.contains("each of 2 ranks would choose others") == true)
    }

    @Test func anomaliesNameTheRank() throws {
        let scratch = try Self.fresh()
        let configuration = try scratch.configuration(
            "batch=4", "threads=1", "steps=50", "anomaly=true", "data.validation_fraction=0",
            "loss.kind=mse",
            "optimizer.kind=sgd",
            "optimizer.learning_rate=1e6", "schedule.kind=constant")
        let error = #expect(throws: TrainingError.self) {
            try onRanks(2) { try TrainingRun(configuration, ranks: $0).run() }
        }
        #expect(error?.kind == .notFinite)
        #expect(error?.description.contains("on rank ") == true, "\(String(describing: error))")
    }
}
