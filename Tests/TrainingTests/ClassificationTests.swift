import Foundation
import RetintCheckpoints
import RetintGraph
import RetintLayers
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

@Suite(.serialized) struct ClassificationTests {
    private func losses(_ scratch: TemporaryFolder, _ settings: String...) throws -> [Double] {
        try losses(scratch, settings)
    }

    private func losses(_ scratch: TemporaryFolder, _ settings: [String]) throws -> [Double] {
        var configuration = try scratch.configuration(
            "architecture=class-unet", "steps=12", "data.validation_fraction=0",
            "overfit_one_batch=true", "loss.kind=classification", "schedule.kind=constant",
            "optimizer.learning_rate=3e-3")
        for setting in settings { try configuration.set(setting) }
        var losses: [Double] = []
        let trainer = try TrainingRun(configuration) {
            if case .step(_, let loss) = $0 { losses.append(loss) }
        }
        #expect(try trainer.run() == .finished)
        return losses
    }

    @Test(arguments: ["loss.rebalance=0.5", "loss.rebalance=null"])
    func distributionsAreLearned(_ setting: String) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let losses = try losses(scratch, setting, "steps=40")
        #expect(losses[39] < 0.8 * losses[0])
    }

    /// SIGGRAPH17 learns colors and classes together, with hints.
    @Test func siggraph17LearnsByHints() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let losses = try losses(
            scratch, "architecture=siggraph17", "width=0.0625", "loss.kind=l1",
            "loss.class_weight=0.1", "data.hints=true", "steps=10")
        #expect(losses[9] < losses[0])
    }

    @Test func temporalAndVariationLossesTrain() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let losses = try losses(
            scratch, "architecture=mobile-unet", "loss.kind=l1", "loss.temporal=0.5",
            "loss.total_variation=0.1")
        #expect(losses[11] < losses[0])
    }

    /// The teacher is twice as wide, so that only similarities of positions can be compared.
    @Test func learnsTheFeaturesOfAWiderTeacher() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let teacher = try scratch.makeTeacher("class-unet", width: 0.5)
        let features = ["distillation.teacher=\(teacher)", "distillation.features=stage8"]
        // The weight makes everything else small beside the similarities.
        let losses = try losses(
            scratch,
            features + [
                "distillation.feature_loss=pairwise", "distillation.feature_weight=1000",
                "distillation.weight=1", "seed=1", "steps=40", "data.crop=96",
            ])
        #expect(losses[0] > 10 && losses[39] < 0.5 * losses[0])
        let refusals = [
            (["data.crop=96"], "set distillation.feature_loss to pairwise"),
            (["data.crop=288", "distillation.feature_loss=pairwise"], "at most 1024 positions"),
        ]
        for (settings, words) in refusals {
            let other = ["architecture=class-unet", "output=\(scratch.path)/other"]
            let error = #expect(throws: TrainingError.self) {
                try TrainingRun(try scratch.configuration(other + features + settings))
            }
            #expect(error?.description.contains(words) == true)
        }
    }

    /// Its last nodes are those of the running statistics, which are not its output.
    @Test func comparesTheOutputOfAModuleThatEndsInBatchNorm() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let teacher = try scratch.makeTeacher("lite-unet", width: 0.5)
        let losses = try losses(
            scratch, "architecture=lite-unet", "loss.kind=l1", "distillation.teacher=\(teacher)",
            "distillation.features=encoder.blocks.2", "distillation.feature_loss=pairwise",
            "distillation.feature_weight=1000", "distillation.weight=1", "seed=1", "steps=40",
            "data.crop=96")
        #expect(losses[0] > 10 && losses[39] < 0.5 * losses[0])
    }

    @Test(arguments: [
        ("loss.kind=classification", "mobile-unet has no distribution"),
        ("loss.class_weight=1", "mobile-unet has no distribution"),
        ("data.hints=true", "mobile-unet takes no hints"),
        ("loss.perceptual=1", "name a checkpoint of siggraph17"),
        ("distillation.features=stem=nothing", "there is no such module"),
        ("distillation.features=stem=head", "modules of one shape"),
        ("distillation.logits=1", "do not both classify"),
    ])
    func refusesWhatTheNetworkLacks(_ setting: String, _ words: String) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let teacher = try scratch.makeTeacher("mobile-unet")
        let configuration = try scratch.configuration(
            setting, "distillation.teacher=\(teacher)")
        let error = #expect(throws: TrainingError.self) { try TrainingRun(configuration) }
        #expect(error?.description.contains(words) == true)
    }

    /// Logits and features of the teacher contribute to the loss. Of a crop of 32 pixels, batch
    /// norm would see two values at stage32, whose normalized difference is mostly rounding. In
    /// self-training, the photos are gray.
    @Test(arguments: [[], ["loss.rebalance=null", "steps=80"]])
    func learnsTheTeachersLogitsAndFeatures(selfTraining: [String]) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2, gray: !selfTraining.isEmpty)
        let teacher = try scratch.makeTeacher("class-unet")
        let losses = try losses(
            scratch,
            [
                "distillation.teacher=\(teacher)", "distillation.weight=1",
                "distillation.logits=1", "distillation.features=up4 stage8=stage8",
                "distillation.temperature=2", "seed=1", "steps=40", "data.crop=96",
            ] + selfTraining)
        #expect(losses[losses.count - 1] < 0.9 * losses[0])
    }

    @Test func hintsAreTheColorsOfTheirSquares() throws {
        let target = TensorData(
            shape: [3, 2, 24, 20], scalars: (0..<2880).map { Float($0 % 7) / 10 - 0.3 })
        var hinted = 0
        for seed in 0..<40 {
            let randoms = (0..<3).map { RandomStream(seed: UInt64(seed), name: "\($0)") }
            let inputs = ColorHints.inputs(for: target, randoms)
            let (hints, mask) = (try #require(inputs[.hints]), try #require(inputs[.mask]))
            #expect(mask.shape == [3, 1, 24, 20] && hints.shape == target.shape)
            #expect(mask.scalars.allSatisfy { $0 == 0 || $0 == 1 })
            for (index, isHinted) in mask.scalars.enumerated() {
                let (example, pixel) = index.quotientAndRemainder(dividingBy: 480)
                for channel in 0..<2 where isHinted == 0 {
                    #expect(hints.scalars[(2 * example + channel) * 480 + pixel] == 0)
                }
                hinted += Int(isHinted)
            }
        }
        // Seven squares of 32 pixels on average, which overlap.
        let share = Double(hinted) / Double(40 * 3 * 480)
        #expect((0.1...0.5).contains(share))
    }
}
