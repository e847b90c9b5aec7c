import Foundation
import RetintCheckpoints
import RetintEngine
import RetintImages
import RetintRuntime
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
        ["architecture=rep-unet", "loss.adversarial=0.3", "loss.adversarial_width=4"],
        [
            "architecture=lite-class-unet", "loss.class_weight=1", "loss.neutral=0.5",
            "old_photo.grain=0.7", "data.lightness=0.2", "data.contrast=0.3",
        ],
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

    /// A teacher is part of a GPU's step, and runs beside the CPU's.
    @Test(arguments: [
        ["distillation.weight=0.7"],
        [
            "distillation.logits=0.5", "distillation.temperature=2",
            "distillation.features=up4 stage8=up8", "old_photo.fading=0.7",
        ],
    ])
    func stepsWithATeacher(_ settings: [String]) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let teacher = try scratch.makeTeacher("class-unet")
        let all =
            ["architecture=class-unet", "steps=3", "distillation.teacher=\(teacher)"] + settings
        let expected = try losses(scratch, all, on: .cpu)
        let found = try losses(scratch, all, on: .cuda())
        #expect(expected.count == 3)
        expectLosses(found, expected)
        let without = try losses(
            scratch,
            all + ["distillation.weight=0.2", "steps=1", "output=\(scratch.path)/other"],
            on: .cuda())
        #expect(abs(without[0] - found[0]) > 1e-3 * found[0], "the teacher matters")
    }

    /// A step computes the same from photos in a GPU's memory and from crops that it is given.
    @Test func photosInMemoryChangeNoBit() throws {
        let settings = [
            "architecture=pico-unet", "steps=8", "old_photo.grain=0.2", "data.exposure=0.5",
            "data.gray_world=0.2", "compute=bfloat16", "data.validation_fraction=0",
        ]
        var trained: [Checkpoint] = []
        for megabytes in [0, 1, 1024] {
            let scratch = try TemporaryFolder()
            try scratch.addPhotos(24, side: 300)
            let memory = "data.cache_megabytes=\(megabytes)"
            let losses = try losses(scratch, settings + [memory], on: .cuda())
            #expect(losses.count == 8)
            let trial = try TrainingRun(
                scratch.configuration(settings + ["device=cuda", "data.crop=64", memory]),
                from: .trial)
            // As many as fit, or all, of photos that may be twice as long as wide.
            let pixels = [0: 0, 1: 1 << 18, 1024: 24 * 2 * 128 * 128][megabytes]
            #expect(trial.keptPixels.count == pixels)
            trained.append(
                try Checkpoint(contentsOf: scratch.path("\(Execution.Device.cuda())/last.h5")))
        }
        #expect(trained[0].state == trained[2].state && trained[1].state == trained[2].state)
    }

    /// Images of a step that cuts crops are in 16 bits like those of one that is given them.
    @Test func imagesOfStepsAreIn16Bits() throws {
        MockCUDA.install()
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        func bytes(_ settings: String...) throws -> Int {
            let all = ["device=cuda", "architecture=pico-unet", "data.crop=64", "width=1"]
            return try TrainingRun(scratch.configuration(all + settings), from: .trial)
                .overview.stepBytes
        }
        let (whole, half) = (try bytes(), try bytes("compute=bfloat16"))
        #expect(half < whole * 8 / 10, "\(half) of \(whole) bytes")
        #expect(try bytes("data.cache_megabytes=0") == whole, "without pixels")
    }

    /// A GPU without memory for photos beside a training keeps none, and trains the same.
    @Test func littleMemoryKeepsNoPhotos() throws {
        MockCUDA.install()
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5, side: 200)
        func train(_ output: String, megabytes: Int) throws -> (messages: String, Checkpoint) {
            let settings = [
                "architecture=pico-unet", "steps=2", "batch=8", "data.crop=128", "device=cuda",
                "validate_every=2", "data.train=\(scratch.path)/photos",
                "output=\(scratch.path(output))",
            ]
            let result = try runProcess(
                builtProgram("retint"), ["train", "--set"] + settings,
                environment: ["RETINT_MOCK_MEMORY": "\(megabytes)"])
            #expect(result.code == 0, "\(result.messages)")
            return (
                result.messages, try Checkpoint(contentsOf: scratch.path("\(output)/last.h5"))
            )
        }
        let note = "too little memory to keep photos"
        let (plenty, expected) = try train("plenty", megabytes: 4096)
        let needed = try #require(plenty.firstMatch(of: /a step needs ([0-9.]+) MiB/)?.1)
        #expect(!plenty.contains(note))
        let (little, found) = try train("little", megabytes: Int(1.5 * Double(needed)!))
        #expect(little.contains(note), "\(little)")
        #expect(found.state == expected.state)
    }

    /// A hundred steps in float32 have the losses of the CPU.
    ///
    /// The rate is small, because differences of rounding grow from step to step: with the usual
    /// rates, the CPU's own losses with one thread and with two differ by 0.3 % after 100 steps.
    @Test func aHundredStepsHaveTheLossesOfTheCPU() throws {
        let scratch = try TemporaryFolder()
        try addWaves(to: scratch)
        let settings = ["architecture=pico-unet", "width=0.5", "data.crop=96", "steps=100"]
        let rate = "optimizer.learning_rate=2e-6"
        let expected = try losses(scratch, settings + [rate], on: .cpu)
        let found = try losses(scratch, settings + [rate], on: .cuda())
        #expect(expected.count == 100 && found.count == 100)
        for (step, (found, expected)) in zip(found, expected).enumerated() {
            #expect(abs(found - expected) <= 1e-4 * expected, "step \(step)")
        }
        let scratchOfStill = try TemporaryFolder()
        try addWaves(to: scratchOfStill)
        let still = try losses(
            scratchOfStill, settings + ["optimizer.learning_rate=1e-12"], on: .cpu)
        let learned = zip(still, expected).map { abs($0 - $1) / $0 }
        #expect(try #require(learned.last) > 1e-3, "the updates matter")
    }

    /// Measured algorithms are kept for this machine, and compute the same to rounding.
    @Test func measuresAlgorithmsFirst() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let settings = ["architecture=pico-unet", "steps=3"]
        for (device, mark) in [(Execution.Device.cuda(), ": weight gradient "), (.cpu, "threads")] {
            let expected = try losses(scratch, settings, on: device)
            #expect(!KernelFile.read().names.keys.contains { $0.contains(mark) })
            let tuned = ["tune=true", "output=\(scratch.path)/\(device)-tuned"]
            expectLosses(try losses(scratch, settings + tuned, on: device), expected)
            #expect(KernelFile.read().names.keys.contains { $0.contains(mark) })
        }
    }

    /// After 400 steps in bfloat16, the validation is that of float32.
    @Test func validationAfterTrainingInBfloat16() throws {
        let scratch = try TemporaryFolder()
        try addWaves(to: scratch)
        let settings = [
            "architecture=pico-unet", "width=0.5", "steps=400", "validate_every=400",
            "data.validation_fraction=0.25", "seed=2",
        ]
        let expected = try run(scratch, settings, on: .cpu).validations
        let found = try run(scratch, settings + ["compute=bfloat16"], on: .cuda()).validations
        #expect(expected.count == 1 && found.count == 1)
        for (found, expected) in zip(found, expected) {
            #expect(abs(found - expected) <= 0.02 * expected && found != expected)
        }
    }

    /// Photos are measured on a GPU as on the CPU: with classes and with damage.
    @Test func validationsOfPhotos() throws {
        let scratch = try TemporaryFolder()
        try addWaves(to: scratch)
        let settings = [
            "architecture=class-unet", "steps=2", "validate_every=2", "loss.class_weight=1",
            "data.validation_fraction=0.5", "old_photo.grain=0.8", "old_photo.validation=true",
        ]
        let expected = try run(scratch, settings, on: .cpu).validations
        let found = try run(scratch, settings, on: .cuda()).validations
        #expect(expected.count == 1)
        expectLosses(found, expected)
    }

    /// Gradients that float16 would lose are those of float32, because the loss is scaled.
    @Test func smallGradientsInFloat16() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        MockCUDA.install()
        func norm(_ compute: String, scale: Float? = nil) throws -> Float {
            let configuration = try scratch.configuration(
                "architecture=class-unet", "batch=4", "data.crop=64", "loss.kind=classification",
                "loss.rebalance=null", "loss.neutral=0", "loss.class_weight=1",
                "optimizer.kind=sgd", "device=cuda", "compute=\(compute)")
            let run = try TrainingRun(configuration, from: .trial)
            var settings = run.schedule.settings(at: 0, elapsed: 0)
            if let scale { settings.lossScale = scale }
            return try run.state.step.run(run.source.batch(step: 0), settings).gradientNorm
        }
        let expected = try norm("float32")
        #expect(abs(try norm("float16", scale: 1024) - expected) <= 0.03 * expected)
        #expect(try norm("float16", scale: 0x1p-22) < 0.7 * expected, "they would be lost")
    }

    /// The scale falls until nothing overflows, which is not an anomaly, and is resumed.
    @Test func lossScalesThatOverflow() throws {
        let settings = [
            "architecture=class-unet", "steps=4", "loss.class_weight=10000", "compute=float16",
            "optimizer.learning_rate=1e-4", "anomaly=true", "loss.neutral=100", "log_every=4",
            "data.crop=32", "batch=2",
        ]
        let (whole, parts) = (try TemporaryFolder(), try TemporaryFolder())
        try whole.addPhotos(5)
        try parts.addPhotos(5)
        let losses = try losses(whole, settings, on: .cuda())
        #expect(losses.count == 4 && losses.allSatisfy(\.isFinite))
        _ = try self.losses(parts, settings, on: .cuda(), until: 2)
        _ = try self.losses(parts, settings, on: .cuda(), from: .resumed)
        let first = try Checkpoint(contentsOf: whole.path("\(Execution.Device.cuda())/last.h5"))
        let second = try Checkpoint(contentsOf: parts.path("parts/last.h5"))
        #expect(first.state == second.state)
        let scale = try #require(TrainingProgress(json: first.training ?? "")?.lossScale)
        #expect(scale == TrainingProgress(json: second.training ?? "")?.lossScale)
        #expect(scale.value < LossScale().value, "it fell")
    }

    /// Steps on trial in float16 change weights, too: they are repeated with smaller scales.
    @Test func trialsInFloat16() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        MockCUDA.install()
        let configuration = try scratch.configuration(
            "architecture=class-unet", "loss.class_weight=10000", "compute=float16",
            "loss.neutral=100", "device=cuda", "overfit_one_batch=true")
        let range = try await Trainer.learningRateRange(
            configuration, from: 1e-3, to: 2e-3, steps: 4)
        let losses = range.points.map(\.loss)
        #expect(losses.count == 4 && abs(losses[3] - losses[0]) > 1e-3 * losses[0], "\(losses)")
    }

    @Test func scalesOfTheLoss() throws {
        var scale = LossScale()
        #expect(scale.value == 65_536)
        for _ in 0..<1999 { scale.count(isFinite: true) }
        #expect(scale.value == 65_536)
        scale.count(isFinite: true)
        #expect(scale.value == 131_072)
        scale.count(isFinite: false)
        for _ in 0..<1999 { scale.count(isFinite: true) }
        #expect(scale.value == 65_536)
        for _ in 0..<16 { scale.count(isFinite: false) }
        #expect(scale.value == 1 && !scale.canFall)
        scale.count(isFinite: false)
        #expect(scale.value == 1 && scale.isValid)
        for _ in 0..<(2000 * 30) { scale.count(isFinite: true) }
        #expect(scale.value == 16_777_216 && scale.isValid && scale.canFall)
        for json in [#"{"value":0.5,"steps":0}"#, #"{"value":2,"steps":2000}"#] {
            #expect(try !JSONDecoder().decode(LossScale.self, from: Data(json.utf8)).isValid)
        }
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

    /// Photos of smooth waves: with noise, normalization would amplify what rounding changes.
    private func addWaves(to scratch: TemporaryFolder) throws {
        let folder = "\(scratch.path)/photos"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for number in 0..<12 {
            let n = Double(number)
            let pixels = (0..<120 * 128 * 3).map { index in
                let (channel, x, y) = (index % 3, Double(index / 3 % 128), Double(index / 3 / 128))
                let phase = 0.7 * Double(number * 3 + channel)
                let across = sin(x * (0.05 + 0.013 * n) + phase)
                let down = cos(y * (0.04 + 0.011 * Double(channel)) + 0.5 * phase)
                return UInt8(clamping: Int(128 + 80 * across * down + 40 * sin(0.3 * (x + y) + n)))
            }
            try Image(width: 128, height: 120, pixels: pixels)
                .write(to: "\(folder)/\(number).png")
        }
    }

    /// Expects nearly the same losses, the first, before any update, most of all.
    private func expectLosses(_ found: [Double], _ expected: [Double], _ name: String = "") {
        for (index, (found, expected)) in zip(found, expected).enumerated() {
            let bound = index == 0 ? 2e-6 : 1e-3
            #expect(abs(found - expected) <= bound * abs(expected), "\(name) step \(index)")
        }
    }

    private func losses(
        _ scratch: TemporaryFolder, _ settings: [String], on device: Execution.Device,
        from start: TrainingStart = .fresh, until last: Int? = nil
    ) throws -> [Double] {
        try run(scratch, settings, on: device, from: start, until: last).losses
    }

    /// The loss of each step of a training, and of each validation, in the folder of its first
    /// device if it goes on.
    private func run(
        _ scratch: TemporaryFolder, _ settings: [String], on device: Execution.Device,
        from start: TrainingStart = .fresh, until last: Int? = nil
    ) throws -> (losses: [Double], validations: [Double]) {
        MockCUDA.install()
        let folder = last == nil && start == .fresh ? "\(device)" : "parts"
        let configuration = try scratch.configuration(
            [
                "batch=4", "data.crop=64", "optimizer.epsilon=0.001",
                "optimizer.learning_rate=2e-5", "device=\(device.rawValue)",
                "output=\(scratch.path)/\(folder)",
            ] + settings)
        var (losses, validations) = ([Double](), [Double]())
        let run = try TrainingRun(configuration, from: start) {
            switch $0 {
            case .step(_, let loss): losses.append(loss)
            case .metrics(let record): record.validation.map { validations.append($0.loss) }
            default: break
            }
        }
        _ = try run.run(until: last)
        return (losses, validations)
    }
}
