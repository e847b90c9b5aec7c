import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintGraph
import RetintImages
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

@Suite(.serialized) struct TrainingTests {
    @Test(arguments: [
        ["optimizer.ema=0.9", "optimizer.clip_grad_norm=1"], ["optimizer.kind=sgd"],
        ["quantization=int4"],
        ["loss.adversarial=0.3", "optimizer.ema=0.9", "optimizer.groups=discriminator.*: rate=2"],
        ["quantization=w8a8", "optimizer.ema=0.9", "data.other_crops=64"],
    ])
    func resumedRunGivesTheSameBits(_ settings: [String]) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(7)
        var configuration = try scratch.configuration()
        for setting in settings { try configuration.set(setting) }
        configuration.output = "\(scratch.path)/whole"
        #expect(try TrainingRun(configuration).run() == .finished)

        configuration.output = "\(scratch.path)/parts"
        var done = 0
        let first = try TrainingRun(configuration) {
            if case .step(let step, _) = $0 { done = step }
        }
        #expect(try first.run { done >= 3 } == .interrupted)
        #expect(done == 3)
        let second = try TrainingRun(configuration, from: .resumed)
        #expect(second.overview.firstStep == 3)
        #expect(try second.run() == .finished)

        let whole = try Checkpoint(contentsOf: "\(scratch.path)/whole/last.h5")
        let parts = try Checkpoint(contentsOf: "\(scratch.path)/parts/last.h5")
        #expect(whole.state == parts.state)
        #expect(whole.optimizer == parts.optimizer)
        #expect(!whole.optimizer.isEmpty)
        let states = try [whole, parts].map {
            try #require(TrainingProgress(json: $0.training ?? ""))
        }
        #expect(states[0].step == 6)
        #expect(states[0].bestLoss == states[1].bestLoss)
        #expect(try Self.losses(scratch, "whole") == Self.losses(scratch, "parts"))
        let best = try ["whole", "parts"].map {
            try Checkpoint(contentsOf: "\(scratch.path)/\($0)/best.h5")
        }
        #expect(best[0] == best[1])
        #expect(best[0].optimizer.isEmpty)
        #expect(!best[0].state.contains { $0.0.hasPrefix(Discriminator.scope) })
    }

    /// A run that is killed while it validates for the last time does so when it is resumed.
    @Test func theLastStepIsSavedAfterItsValidation() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(7)
        let configuration = try scratch.configuration("save_every=3", "validate_every=100")
        var (done, saved) = (0, [Int]())
        let run = try TrainingRun(configuration) {
            if case .step(let step, _) = $0 { done = step }
        }
        let last = "\(configuration.output)/last.h5"
        #expect(
            try run.run {
                guard done == 6, let training = try? Checkpoint(contentsOf: last).training else {
                    return false
                }
                saved.append(TrainingProgress(json: training)?.step ?? 0)
                return false
            } == .finished)
        #expect(!saved.isEmpty && saved.allSatisfy { $0 == 3 }, "\(saved)")
        #expect(TrainingProgress(json: try Checkpoint(contentsOf: last).training ?? "")?.step == 6)
    }

    private static func losses(_ scratch: TemporaryFolder, _ run: String) throws -> [Double] {
        let lines = try String(
            contentsOfFile: "\(scratch.path)/\(run)/metrics.jsonl", encoding: .utf8)
        return try lines.split(separator: "\n").map { line in
            let record = try JSONDecoder().decode(MetricsRecord.self, from: Data(line.utf8))
            return try #require(record.loss ?? record.validation?.loss)
        }
    }

    @Test func lossFallsOnOnePhoto() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(1)
        var losses: [Double] = []
        let configuration = try scratch.configuration(
            "steps=30", "data.validation_fraction=0", "data.minimum_scale=1", "data.flip=false",
            "schedule.kind=constant", "optimizer.learning_rate=0.01")
        let trainer = try TrainingRun(configuration) {
            if case .step(_, let loss) = $0 { losses.append(loss) }
        }
        #expect(try trainer.run() == .finished)
        #expect(losses.count == 30)
        #expect(losses[29] < 0.9 * losses[0])
    }

    /// A network that learns only from a teacher ends up closer to it than one that learns only
    /// from photos.
    @Test func learnsFromATeacher() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(3)
        let teacher = try scratch.makeTeacher("mobile-unet")
        let batch = Batch([
            try Image(contentsOf: "\(scratch.path)/photos/0.png")
                .cropped(x: 0, y: 0, width: 32, height: 32)
        ])
        var distances: [Double] = []
        for share in ["1", "0"] {
            var configuration = try scratch.configuration(
                "steps=60", "data.validation_fraction=0", "distillation.teacher=\(teacher)",
                "distillation.weight=\(share)", "schedule.kind=constant", "seed=1",
                "loss.kind=mse", "output=\(scratch.path)/\(share)")
            #expect(try TrainingRun(configuration).run() == .finished)
            configuration.batch = 1
            let wanted = try colors(of: teacher, configuration, batch)
            let last = "\(configuration.output)/last.h5"
            let found = try colors(of: last, configuration, batch)
            distances.append(
                zip(wanted.scalars, found.scalars).reduce(0) { $0 + Double(abs($1.0 - $1.1)) })
        }
        #expect(distances[0] < 0.8 * distances[1])
    }

    /// a and b of one crop, divided by 110.
    private func colors(
        of path: String, _ configuration: TrainingConfiguration, _ batch: Batch
    ) throws -> TensorData {
        let teacher = try Teacher(
            path, [.teacherColors], batch: configuration.batch, side: configuration.data.crop,
            execution: configuration.validationOptions.execution)
        return try #require(try teacher.inputs(for: batch)[.teacherColors])
    }

    @Test func frozenParametersStay() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(3)
        let configuration = try scratch.configuration("freeze=stem.* head.0.weight", "steps=3")
        #expect(try TrainingRun(configuration).run() == .finished)
        let before = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: UInt64(configuration.seed)
        ).variables
        let after = try Checkpoint(contentsOf: "\(scratch.path)/run/last.h5").variables
        for (name, value) in after where !name.contains("running") {
            let isFrozen = name.hasPrefix("stem.") || name == "head.0.weight"
            #expect((before[name] == value) == isFrozen, "\(name)")
        }
        for (patterns, words) in [("stum.*", "such as stem."), ("*", "leave some")] {
            let wrong = try scratch.configuration(
                "freeze=\(patterns)", "output=\(scratch.path)/wrong")
            let error = #expect(throws: TrainingError.self) { try TrainingRun(wrong) }
            #expect(error?.description.contains(words) == true)
        }
    }

    @Test func shareOfTheTeacherChangesLinearly() throws {
        var configuration = TrainingConfiguration()
        configuration.distillation.weight = 0.8
        #expect(configuration.distillation.share(at: 4, of: 5) == 0.8)
        configuration.distillation.finalWeight = 0
        let shares = (0..<5).map { configuration.distillation.share(at: $0, of: 5) }
        for (share, wanted) in zip(shares, [0.8, 0.6, 0.4, 0.2, 0]) {
            #expect(abs(share - wanted) < 1e-12)
        }
    }

    /// Weights trained with rounding lose less when they are rounded; how much less depends on how
    /// the kernels of the CPU's generation round.
    @Test func trainingAdaptsToRounding() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(1)
        var losses: [String: Double] = [:]
        for quantization in ["none", "int4"] {
            let configuration = try scratch.configuration(
                "steps=60", "epoch_steps=1", "data.minimum_scale=1", "data.flip=false",
                "validate_every=60",
                "data.validation=\(scratch.path)/photos", "schedule.kind=constant",
                "quantization=\(quantization)", "output=\(scratch.path)/\(quantization)")
            #expect(try TrainingRun(configuration).run() == .finished)
            var rounded = configuration
            rounded.quantization = .int4
            let weights = try Checkpoint(contentsOf: "\(configuration.output)/last.h5")
            let validator = try Validator(
                weights.network.make(), rounded, photos: [.file("\(scratch.path)/photos/0.png")])
            losses[quantization] = try validator.measure(weights.variables) { false }?.loss
        }
        let (plain, trained) = (try #require(losses["none"]), try #require(losses["int4"]))
        #expect(trained < plain)
    }

    @Test func stopsWhenValuesAreNoLongerFinite() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration(
            "steps=200", "save_every=1", "loss.kind=mse", "optimizer.kind=sgd",
            "optimizer.learning_rate=1e6", "schedule.kind=constant")
        let error = #expect(throws: TrainingError.self) { try TrainingRun(configuration).run() }
        #expect(error?.kind == .notFinite)
        #expect(error?.description.contains("optimizer.learning_rate") == true)
        let last = "\(scratch.path)/run/last.h5"
        if FileManager.default.fileExists(atPath: last) {
            for (name, tensor) in try Checkpoint(contentsOf: last).state {
                #expect((tensor.floats ?? []).allSatisfy { $0.isFinite }, "\(name)")
            }
        }
    }

    @Test func refusesFoldersThatCannotBeTrainedOn() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(0)
        let configuration = try scratch.configuration()
        let empty = #expect(throws: TrainingError.self) { try TrainingRun(configuration) }
        #expect(empty?.kind == .noPhotos)
        #expect(empty?.description.contains("\(scratch.path)/photos") == true)
        try scratch.addPhotos(1)
        let alone = #expect(throws: TrainingError.self) { try TrainingRun(configuration) }
        #expect(alone?.description.contains("the only photo went to validation; add") == true)
        try FileManager.default.removeItem(atPath: "\(scratch.path)/photos/0.png")
        try Data("no photo".utf8).write(to: URL(filePath: "\(scratch.path)/photos/bad.png"))
        let bad = #expect(throws: TrainingError.self) {
            try TrainingRun(scratch.configuration("data.validation_fraction=0")).run()
        }
        #expect(bad?.kind == .noPhotos)
        #expect(bad?.description.contains("the only photo cannot be read: ") == true)
    }

    @Test func skipsAndReportsBadPhotos() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(3)
        try Data("no photo".utf8).write(to: URL(filePath: "\(scratch.path)/photos/bad.png"))
        var bad: [String] = []
        let configuration = try scratch.configuration("data.validation_fraction=0")
        let trainer = try TrainingRun(configuration) {
            if case .badPhoto(let problem) = $0 { bad.append(problem) }
        }
        #expect(try trainer.run() == .finished)
        #expect(bad.count == 1)
        #expect(bad.first?.contains("bad.png") == true)
    }

    /// A discriminator is part of a run from its first step to its last.
    @Test(arguments: [
        ([], ["loss.adversarial=0.1"]), (["loss.adversarial=0.1"], ["loss.adversarial=0"]),
        (["loss.adversarial=0.1"], ["loss.adversarial_width=8"]),
        (["loss.adversarial=0.1"], ["loss.adversarial=0.2"]),
    ])
    func otherDiscriminatorsAreRefused(_ before: [String], _ after: [String]) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        _ = try TrainingRun(scratch.configuration(["steps=1"] + before)).run()
        let configuration = try scratch.configuration(["steps=2"] + before + after)
        guard after != ["loss.adversarial=0.2"] else {
            #expect(try TrainingRun(configuration, from: .resumed).run() == .finished)
            return
        }
        let error = #expect(throws: TrainingError.self) {
            try TrainingRun(configuration, from: .resumed)
        }
        #expect(error?.kind == .cannotResume)
        #expect(error?.description.contains("start a new run with init=") == true)
    }

    /// A run can be resumed only with the same variables; the error names the setting that changed.
    @Test(
        arguments: [
            (["freeze=stem.*"], ["freeze=null"], "freeze: null (was \"stem.*\")"),
            ([], ["accumulate=2"], "accumulate: 2 (was 1)"),
            ([], ["optimizer.ema=0.9"], "optimizer.ema: 0.9 (was null)"),
            (
                ["optimizer.learning_rate=0.1"],
                ["optimizer.kind=sgd", "optimizer.learning_rate=0.2"],
                "optimizer.kind: sgd (was adamw)"
            ),
        ] as [([String], [String], String)])
    func changedVariablesAreRefusedByName(
        _ before: [String], _ after: [String], _ change: String
    ) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        _ = try TrainingRun(scratch.configuration(["steps=2"] + before)).run()
        let configuration = try scratch.configuration(["steps=4"] + before + after)
        let error = #expect(throws: TrainingError.self) {
            try TrainingRun(configuration, from: .resumed)
        }
        #expect(error?.kind == .cannotResume)
        let text = error?.description ?? ""
        #expect(text.hasPrefix("\(configuration.output)/last.h5: has no optimizer."), "\(text)")
        #expect(text.contains(", which is needed for \(change); resume with"), "\(text)")
        let last = "\(configuration.output)/last.h5"
        #expect(text.hasSuffix("or start a new run with init=\(last)"), "\(text)")
    }

    @Test func neverOverwritesARun() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration("steps=1")
        let nothing = #expect(throws: TrainingError.self) {
            try TrainingRun(configuration, from: .resumed)
        }
        #expect(nothing?.kind == .cannotResume)
        _ = try TrainingRun(configuration).run()
        let error = #expect(throws: TrainingError.self) { try TrainingRun(configuration) }
        #expect(error?.kind == .runExists)
        let other = try scratch.configuration("optimizer.kind=sgd")
        let mismatch = #expect(throws: TrainingError.self) {
            try TrainingRun(other, from: .resumed)
        }
        #expect(mismatch?.kind == .cannotResume)
    }
}
