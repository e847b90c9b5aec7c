import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintFiles
import RetintGraph
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

/// Settings of a configuration beside its loss.
@Suite(.serialized) struct RecipeTests {
    private func weights(_ scratch: TemporaryFolder, _ run: String) throws -> [String: TensorData] {
        try Checkpoint(contentsOf: "\(scratch.path)/\(run)/last.h5").variables
            .filter { !$0.key.contains("running") }
    }

    private func train(_ scratch: TemporaryFolder, _ run: String, _ settings: String...) throws {
        var configuration = try scratch.configuration("output=\(scratch.path)/\(run)")
        for setting in settings { try configuration.set(setting) }
        #expect(try TrainingRun(configuration).run() == .finished)
    }

    /// The mean gradient of a batch taken twice is that of the batch taken once.
    @Test func accumulatedGradientsAreAveraged() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let same = "overfit_one_batch=true"
        try train(scratch, "once", same, "steps=1", "optimizer.clip_grad_norm=0.1")
        try train(
            scratch, "twice", same, "steps=2", "accumulate=2", "optimizer.clip_grad_norm=0.1",
            "schedule.kind=constant")
        let half = try scratch.configuration(
            same, "steps=2", "accumulate=2", "output=\(scratch.path)/half")
        #expect(try TrainingRun(half).run(until: 1) == .finished)
        let fresh = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 0
        ).variables
        let (once, twice) = (try weights(scratch, "once"), try weights(scratch, "twice"))
        for (name, value) in try weights(scratch, "half") {
            #expect(value == fresh[name], "\(name) must wait for the second step")
            let pair = zip(once[name]?.scalars ?? [], twice[name]?.scalars ?? [])
            #expect(pair.allSatisfy { abs($0 - $1) < 1e-5 }, "\(name)")
        }
        #expect(once != fresh.filter { !$0.key.contains("running") })
    }

    /// Steps that only accumulate have the norms of parts, which no update has.
    @Test func normsAreThoseOfUpdates() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        func norms(_ settings: String...) throws -> [Double?] {
            let same = ["overfit_one_batch=true", "data.validation_fraction=0"]
            let configuration = try scratch.configuration(
                same + ["output=\(scratch.path)/\(settings.joined())"] + settings)
            var norms: [Double?] = []
            let run = try TrainingRun(configuration) {
                if case .metrics(let record) = $0 { norms.append(record.gradientNorm) }
            }
            #expect(try run.run() == .finished)
            return norms
        }
        let whole = try #require(try norms("steps=1").first ?? nil)
        // The mean gradient of a batch taken twice is that of the batch.
        let means = try norms("steps=2", "accumulate=2", "log_every=2")
        let mean = try #require(means.first ?? nil)
        #expect(means.count == 1 && abs(mean - whole) < 1e-3 * whole, "\(mean), not \(whole)")
        let each = try norms("steps=2", "accumulate=2", "log_every=1")
        #expect(each == [nil, mean])
    }

    /// The smallest crop has one value per channel in the smallest layer.
    @Test func aBatchOfOneSmallCropIsRefused() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let one = ["architecture=pico-unet", "batch=1", "data.validation_fraction=0"]
        let error = #expect(throws: TrainingError.self) {
            try TrainingRun(scratch.configuration(one))
        }
        #expect(error?.kind == .configuration)
        let text = error?.description ?? ""
        let begin = "batch: 1 crop of 32 pixels leaves one value per channel in stage"
        #expect(text.hasPrefix(begin), "\(text)")
        #expect(error?.remedy.hasPrefix("set batch to 2 or more, or choose larger crops") == true)
        for settings in [["batch=2"], ["data.crop=64"]] {
            let enough = try scratch.configuration(one + settings)
            #expect(throws: Never.self) { try TrainingRun(enough) }
        }
    }

    @Test func groupsHaveTheirOwnRates() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let groups =
            "optimizer.groups=stem.* stage32.*: rate=0 decay=0; head.*: rate=3 schedule=constant"
        try train(scratch, "run", groups, "steps=2")
        let fresh = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 0
        ).variables
        for (name, value) in try weights(scratch, "run") {
            let isStill = name.hasPrefix("stem.") || name.hasPrefix("stage32.")
            #expect((value == fresh[name]) == isStill, "\(name)")
        }
        for (text, words) in [
            ("stum.*: rate=1", "matches no parameter"), ("stem.*: speed=1", "is not rate="),
            ("stem.* hat.*: rate=1", "\"hat.*\" matches no parameter"),
            ("stem.*: rate=0; stem.0.*: rate=1", "parameters that \"stem.0.*\" matches; move it"),
            ("stem.*", "pattern: key=value"), ("stem.*: rate=-1", "is not rate="),
        ] {
            let wrong = try scratch.configuration(
                "optimizer.groups=\(text)", "output=\(scratch.path)/wrong")
            let error = #expect(throws: TrainingError.self) { try TrainingRun(wrong) }
            #expect(error?.description.contains(words) == true, "\(text)")
        }
    }

    @Test(arguments: [
        ("mobile-unet", ["width": "0.5"], "set width=0.5 to make them agree"),
        ("mobile-unet", [:], "set width=1.0 to make them agree"),
        (
            "lite-unet", ["decoder_width": "0.5"],
            "set architecture=lite-unet decoder_width=0.5 width=1.0 to make them agree"
        ),
        ("rep-unet", ["folded": "true", "width": "0.25"], "use the checkpoint it was folded from"),
    ])
    func saysHowToStartFromAnotherNetwork(
        _ architecture: String, _ options: [String: String], _ wayOut: String
    ) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let start = "\(scratch.path)/start.h5"
        try Checkpoint(.named(architecture, ColorizerOptions(options)), seed: 0).write(to: start)
        let error = #expect(throws: TrainingError.self) {
            try TrainingRun(scratch.configuration("init=\(start)", "data.validation_fraction=0"))
        }
        let text = error?.description ?? ""
        #expect(text.contains("asks for mobile-unet, width 0.25;"), "\(text)")
        #expect(text.contains(wayOut), "\(text)")
        guard let settings = wayOut.components(separatedBy: " to make").first,
            settings.hasPrefix("set ")
        else { return }
        #expect(error?.remedies == [Remedy(.settings, String(settings.dropFirst(4)))])
        let words = settings.dropFirst(4).split(separator: " ").map(String.init)
        let agreeing = try scratch.configuration(
            ["init=\(start)", "data.validation_fraction=0"] + words)
        #expect(throws: Never.self) { try TrainingRun(agreeing) }
    }

    @Test func nonFiniteStepsChangeNothing() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let (start, checkpoint) = try overflowing(scratch)
        var notes: [String] = []
        let configuration = try scratch.configuration(
            "init=\(start)", "steps=20", "loss.kind=mse", "data.validation_fraction=0")
        let trainer = try TrainingRun(configuration) {
            if case .note(let text) = $0 { notes.append(text) }
        }
        let error = #expect(throws: TrainingError.self) { try trainer.run() }
        #expect(error?.kind == .notFinite)
        #expect(notes.count == 9)
        #expect(notes.allSatisfy { $0.contains("the step is skipped") })
        #expect(error?.description.contains("like the 9 before") == true)
        #expect(error?.description.contains("in the forward pass") == true)
        #expect(error?.description.contains("stem") == true)
        for (name, value) in checkpoint.variables {
            #expect(trainer.state.step.variables[name] == value, "\(name)")
        }
    }

    /// Says what is left of a run that diverged: a file to resume from, or nothing.
    @Test(arguments: [true, false], [true, false])
    func saysWhatIsLeftOfARunThatDiverged(isSaved: Bool, validates: Bool) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let photos = validates ? "data.validation=\(scratch.path)/photos" : "anomaly=true"
        let configuration = try scratch.configuration(
            photos, "steps=20", "save_every=2", "data.validation_fraction=0", "loss.kind=mse")
        let run = try TrainingRun(configuration)
        if isSaved { #expect(try run.run(until: 2) == .finished) }
        let names = Set(run.state.step.parameterNames)
        try run.state.step.load(
            run.state.step.variables.filter { names.contains($0.key) }.mapValues {
                TensorData(shape: $0.shape, repeating: .nan)
            })
        let error = #expect(throws: TrainingError.self) { try run.run() }
        #expect(error?.kind == .notFinite)
        let text = error?.description ?? ""
        let isOfValidation = text.contains("the validation loss is not finite")
        #expect(isOfValidation == validates, "\(text)")
        let wayOut =
            isSaved
            ? "; last.h5 is still that of step 2; lower optimizer.learning_rate"
            : "; nothing has been saved yet; lower optimizer.learning_rate"
        #expect(text.contains(wayOut), "\(text)")
        #expect(text.hasSuffix(isSaved ? " and resume" : " and start again"), "\(text)")
    }

    /// A network whose first layer overflows.
    private func overflowing(_ scratch: TemporaryFolder) throws -> (path: String, Checkpoint) {
        var checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 0)
        let tensor = try #require(checkpoint.variables["stem.0.weight"])
        checkpoint.state["stem.0.weight"] = .init(
            TensorData(shape: tensor.shape, repeating: 3e38))
        try checkpoint.write(to: "\(scratch.path)/start.h5")
        return ("\(scratch.path)/start.h5", checkpoint)
    }

    @Test func anomaliesStopAtOnce() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let configuration = try scratch.configuration(
            "init=\(try overflowing(scratch).path)", "anomaly=true", "data.validation_fraction=0")
        var notes: [String] = []
        let error = #expect(throws: TrainingError.self) {
            try TrainingRun(configuration) {
                if case .note(let text) = $0 { notes.append(text) }
            }.run()
        }
        #expect(notes.isEmpty)
        #expect(error?.description.contains("the first non-finite result is from") == true)
    }

    @Test func keepsTheLastCheckpoints() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(3)
        try train(scratch, "run", "steps=6", "save_every=1", "keep_last=2")
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/run")
        #expect(
            names.filter { $0.hasPrefix("step-") }.sorted()
                == ["step-0000005.h5", "step-0000006.h5"])
        let state = try Checkpoint(contentsOf: "\(scratch.path)/run/step-0000005.h5").training
        #expect(TrainingProgress(json: state ?? "")?.step == 5)
    }

    @Test func endsWhenTheValidationLossStopsFalling() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration(
            "steps=500", "validate_every=1", "patience=3", "optimizer.learning_rate=1e-12",
            "data.validation=\(scratch.path)/photos", "tensorboard=false")
        let trainer = try TrainingRun(configuration)
        #expect(try trainer.run() == .noProgress)
        #expect(trainer.state.progress.step < 500)
        #expect(trainer.state.progress.validationsSinceBest == 3)
    }

    @Test func reportIsSelfContained() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        try train(scratch, "run", "validate_every=3", "data.validation=\(scratch.path)/photos")
        let page = try String(contentsOfFile: "\(scratch.path)/run/report.html", encoding: .utf8)
        for part in ["<svg", "ΔE2000", "Step 6", "data:image/png;base64,", "architecture:"] {
            #expect(page.contains(part), "\(part)")
        }
        #expect(!page.contains("http") && !page.contains("<script"))
        let samples = try FileManager.default.contentsOfDirectory(
            atPath: "\(scratch.path)/run/samples")
        #expect(samples.sorted() == ["0000003.png", "0000006.png"])
    }
}
