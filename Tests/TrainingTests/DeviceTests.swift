import RetintEngine
import RetintTestSupport
import Testing

@testable import RetintTraining

/// The same training on every device; a GPU is a mock on this machine.
@Suite struct DeviceTests {
    /// What differs in the step: networks, losses, optimizers, and what happens around an update.
    static let trainings: [[String]] = [
        ["architecture=pico-unet", "optimizer.clip_grad_norm=0.5", "optimizer.ema=0.9"],
        ["architecture=lite-class-unet", "optimizer.kind=adamw"],
        ["architecture=mobile-unet", "optimizer.kind=sgd", "accumulate=2", "recompute=true"],
        ["architecture=rep-unet"],
    ]

    // What float32 rounds away grows from step to step. It grows least with an optimizer that does
    // not divide small gradients by their own size, small steps, and many pixels to normalize.

    /// The losses of ten steps in float32 are those in float64, to what float32 can tell apart.
    @Test(arguments: trainings)
    func tenStepsHaveTheLossesOfTheReference(_ settings: [String]) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let expected = try losses(scratch, settings + ["steps=10"], on: .reference)
        #expect(expected.count == 10 && Set(expected).count == 10)
        for device in [Execution.Device.cpu, .cuda()] {
            expectLosses(
                try losses(scratch, settings + ["steps=10"], on: device), expected, "\(device)")
        }
    }

    @Test func trainingsInFloat16AreRefused() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let error = #expect(throws: (any Error).self) {
            try losses(
                scratch, ["architecture=pico-unet", "steps=1", "compute=float16"], on: .cuda())
        }
        #expect("\(try #require(error))".contains("train in bfloat16 or float32"))
    }

    /// A training in bfloat16 has nearly the losses of one in float32.
    @Test func trainingsInBfloat16() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let settings = ["architecture=pico-unet", "steps=10"]
        let expected = try losses(scratch, settings, on: .cpu)
        let found = try losses(scratch, settings + ["compute=bfloat16"], on: .cuda())
        for (found, expected) in zip(found, expected) {
            #expect(abs(found - expected) <= 0.02 * expected && found != expected)
        }
    }

    /// The same training on a GPU again has the same bits.
    @Test func trainingsOnAGPURepeat() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let settings = ["architecture=pico-unet", "steps=6"]
        let first = try losses(scratch, settings, on: .cuda())
        let again = try TemporaryFolder()
        try again.addPhotos(5)
        #expect(try losses(again, settings, on: .cuda()) == first)
    }

    /// A run that changes its device halfway has the losses of one that does not.
    @Test(
        arguments: [
            (Execution.Device.cpu, Execution.Device.reference), (.reference, .cpu),
            (.cpu, .cuda()), (.cuda(), .cpu),
        ])
    func trainingsGoOnOnAnotherDevice(
        _ first: Execution.Device, _ second: Execution.Device
    ) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let settings = ["architecture=pico-unet", "optimizer.ema=0.9", "steps=8"]
        let expected = try losses(scratch, settings, on: .cpu)
        let start = try losses(scratch, settings, on: first, until: 4)
        let rest = try losses(scratch, settings, on: second, from: .resumed)
        #expect(start.count == 4 && rest.count == 4)
        expectLosses(start + rest, expected)
    }

    /// Expects nearly the same losses, the first, before any update, most of all.
    private func expectLosses(_ found: [Double], _ expected: [Double], _ name: String = "") {
        for (index, (found, expected)) in zip(found, expected).enumerated() {
            let bound = index == 0 ? 2e-6 : 1e-3
            #expect(abs(found - expected) <= bound * abs(expected), "\(name) step \(index)")
        }
    }

    /// The loss of each step of a training, in the folder of its first device if it goes on.
    private func losses(
        _ scratch: TemporaryFolder, _ settings: [String], on device: Execution.Device,
        from start: TrainingStart = .fresh, until last: Int? = nil
    ) throws -> [Double] {
        MockCUDA.install()
        let folder = last == nil && start == .fresh ? "\(device)" : "parts"
        let configuration = try scratch.configuration(
            settings + [
                "batch=4", "data.crop=64", "optimizer.epsilon=0.001",
                "optimizer.learning_rate=2e-5", "device=\(device.rawValue)",
                "output=\(scratch.path)/\(folder)",
            ])
        var losses: [Double] = []
        let run = try TrainingRun(configuration, from: start) {
            if case .step(_, let loss) = $0 { losses.append(loss) }
        }
        _ = try run.run(until: last)
        return losses
    }
}
