import Foundation
import RetintCheckpoints
import RetintTestSupport
import Synchronization
import Testing

@testable import RetintTraining

/// Training as a sequence of events.
@Suite(.serialized) struct TrainerTests {
    @Test func eventsArriveInOrder() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        try Data("no photo".utf8).write(to: URL(filePath: "\(scratch.path)/photos/bad.png"))
        let trainer = try Trainer(
            scratch.configuration("data.validation=\(scratch.path)/photos", "validate_every=3"))
        #expect(trainer.overview.firstStep == 0 && trainer.overview.photos == 5)
        #expect(trainer.overview.network.parameters > 0 && trainer.overview.stepBytes > 0)
        #expect(!FileManager.default.fileExists(atPath: trainer.configuration.output))
        var names: [String] = []
        for try await event in trainer.events() { names.append(name(of: event)) }
        #expect(names[0] == "bad photo", "what the preparation reports comes first")
        #expect(
            names.filter { $0 != "bad photo" } == [
                "step 1", "train 1", "step 2", "train 2", "step 3", "train 3", "validation 3",
                "step 4", "train 4", "step 5", "train 5", "step 6", "train 6", "validation 6",
                "finished",
            ])
    }

    private func name(of event: TrainingEvent) -> String {
        switch event {
        case .step(let step, _): "step \(step)"
        case .metrics(let record): "\(record.kind) \(record.step)"
        case .badPhoto: "bad photo"
        case .note: "note"
        case .finished(let outcome): "\(outcome)"
        }
    }

    @Test func cancellingSavesAndResumingGivesTheSameBits() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(7)
        // However long the task that cancels has to wait for a processor, the training still runs.
        var configuration = try scratch.configuration(
            "steps=100000", "validate_every=10", "log_every=10", "schedule.kind=constant")
        configuration.output = "\(scratch.path)/parts"
        let (steps, ending) = try await cancelled(Trainer(configuration), afterSteps: 3)
        let last = try #require(steps.last)
        #expect(ending == .interrupted)
        #expect(steps == Array(1...last) && last >= 3)

        configuration.steps = last + 10
        let second = try Trainer(configuration, resumes: true)
        #expect(second.overview.firstStep == last)
        #expect(try await outcome(of: second) == .finished)

        configuration.output = "\(scratch.path)/whole"
        #expect(try await outcome(of: Trainer(configuration)) == .finished)
        let whole = try Checkpoint(contentsOf: "\(scratch.path)/whole/last.h5")
        let parts = try Checkpoint(contentsOf: "\(scratch.path)/parts/last.h5")
        #expect(whole.state == parts.state)
        #expect(whole.optimizer == parts.optimizer && !whole.optimizer.isEmpty)
    }

    /// Reads all events of a trainer, and cancels the reading task after some steps.
    private func cancelled(
        _ trainer: Trainer, afterSteps count: Int
    ) async throws -> (steps: [Int], ending: Trainer.Outcome?) {
        let task = Task {
            var (steps, ending) = ([Int](), Trainer.Outcome?.none)
            for try await event in trainer.events() {
                if case .step(let step, _) = event { steps.append(step) }
                if case .finished(let outcome) = event { ending = outcome }
                if steps.count == count { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return (steps, ending)
        }
        return try await task.value
    }

    private func outcome(of trainer: Trainer) async throws -> Trainer.Outcome? {
        var ending: Trainer.Outcome?
        for try await event in trainer.events() {
            if case .finished(let outcome) = event { ending = outcome }
        }
        return ending
    }

    /// A second loop waits for the first training to stop, and continues it.
    @Test func leavingTheLoopStopsAndTheNextContinues() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let trainer = try Trainer(
            scratch.configuration("steps=100000", "data.validation_fraction=0"))
        for try await event in trainer.events() {
            if case .step = event { break }
        }
        let (steps, ending) = try await cancelled(trainer, afterSteps: 3)
        #expect(ending == .interrupted)
        let (first, last) = (try #require(steps.first), try #require(steps.last))
        #expect(first > 1 && steps == Array(first...last))
        let checkpoint = try Checkpoint(contentsOf: "\(scratch.path)/run/last.h5")
        #expect(TrainingProgress(json: checkpoint.training ?? "")?.step == last)
    }

    @Test func errorsEndTheSequence() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let trainer = try Trainer(
            scratch.configuration(
                "steps=200", "loss.kind=mse", "optimizer.kind=sgd",
                "optimizer.learning_rate=1e6", "schedule.kind=constant"))
        let events = trainer.events().makeAsyncIterator()
        var iterator = events
        var count = 0
        let error = await #expect(throws: TrainingError.self) {
            while try await iterator.next() != nil { count += 1 }
        }
        #expect(error?.kind == .notFinite)
        #expect(count > 0)
        #expect(try await iterator.next() == nil)
    }

    @Test func rehearsalsWriteNothing() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration(
            "steps=10", "validate_every=4", "data.validation=\(scratch.path)/photos")
        let rehearsal = try await Trainer.rehearse(configuration)
        let validation = try #require(rehearsal.validation)
        #expect(rehearsal.step > .zero && validation > .zero)
        #expect(rehearsal.total >= rehearsal.step * 10 + validation * 3 - .microseconds(1))
        #expect(rehearsal.overview.validationPhotos == 4)
        #expect(!FileManager.default.fileExists(atPath: configuration.output))
    }

    @Test func rehearsalsTakeTwoStepsOfEachSide() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration(
            "steps=50", "data.validation_fraction=0", "data.other_crops=64")
        let steps = Mutex<[Int]>([])
        let rehearsal = try await Trainer.rehearse(configuration) { event in
            if case .step(let step, _) = event { steps.withLock { $0.append(step - 1) } }
        }
        let sides = steps.withLock { $0 }.map { configuration.data.side(step: $0, seed: 0) }
        #expect(sides == [32, 32, 64, 64])
        #expect(rehearsal.total >= rehearsal.step * 50 - .microseconds(1))
    }

    @Test func learningRatesRiseUntilTheLossDiverges() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration("optimizer.kind=sgd", "loss.kind=mse")
        let range = try await Trainer.learningRateRange(configuration, to: 1e6, steps: 40)
        #expect((2..<40).contains(range.points.count))
        #expect(range.points[0].rate == 1e-7)
        #expect(zip(range.points, range.points.dropFirst()).allSatisfy { $0.rate < $1.rate })
        #expect(!FileManager.default.fileExists(atPath: configuration.output))
        let page = "\(scratch.path)/range.html"
        try range.writePage(to: page)
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<svg"))
    }
}
