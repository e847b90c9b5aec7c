import Foundation
import RetintEngine
import RetintFiles
import RetintTestSupport
import Testing

@testable import RetintTraining

@Suite struct ConfigurationTests {
    typealias Schedule = TrainingConfiguration.ScheduleSettings

    @Test func readsWhatItWrites() throws {
        var configuration = TrainingConfiguration()
        for setting in [
            "data.train=Some photos: \"mine\"", "optimizer.learning_rate=3e-4", "batch=3",
            "optimizer.ema=0.99", "schedule.kind=step", "data.flip=false", "time_limit=1.5",
            "init=true", "data.validation=null",
        ] { try configuration.set(setting) }
        let again = try TrainingConfiguration(yaml: configuration.yaml, name: "x.yaml")
        #expect(again == configuration)
        #expect(again.optimizer.learningRate == 3e-4)
        #expect(again.differences(from: TrainingConfiguration()).count == 8)
    }

    /// YAML reads a line break of any kind as a space, and takes no control characters.
    @Test(arguments: [
        "a\rb", "a\r\nb", "a\u{85}b", "a\u{2028}b", "a\u{1b}[31mb", "a\u{feff}", "a\u{1}",
    ])
    func readsPathsWithLineBreaksAsTheyAre(path: String) throws {
        var configuration = TrainingConfiguration()
        configuration.data.train = path
        let again = try TrainingConfiguration(yaml: configuration.yaml)
        #expect(Array(again.data.train.utf8) == Array(path.utf8))
    }

    /// A run in a folder of a similar name would be another one.
    @Test func textThatIsNotUTF8IsRefused() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("latin.yaml")
        try Data(Array("steps: 4\ndata: {train: caf".utf8) + [0xE9] + Array("}\n".utf8))
            .write(to: URL(filePath: path))
        let error = #expect(throws: (any Error).self) {
            try TrainingConfiguration(contentsOf: path)
        }
        #expect("\(error!)".contains("latin.yaml: cannot read: line 2 is not UTF-8"))
    }

    /// Editors on Windows put it in front.
    @Test func aByteOrderMarkIsSkipped() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("marked.yaml")
        try Data("\u{feff}steps: 4\ndata: {train: photos}\n".utf8).write(to: URL(filePath: path))
        #expect(try TrainingConfiguration(contentsOf: path).steps == 4)
    }

    /// The last value of a schedule included.
    @Test(arguments: Schedule.Kind.allCases)
    func extremeSchedulesAreShares(kind: Schedule.Kind) {
        let numbers = [0, 1, 2, 1_000_000_000, Int.max - 1]
        for (step, total) in numbers.flatMap({ step in numbers.map { (step, $0) } }) {
            for warmup in [0, 1, 1_000_000_000, Int.max] {
                for (every, factor, final) in [(1, 1e-6, 0.0), (1_000_000_000, 1.0, 1.0)] {
                    var schedule = Schedule()
                    (schedule.kind, schedule.warmupSteps) = (kind, warmup)
                    (schedule.every, schedule.factor) = (every, factor)
                    schedule.finalShare = final
                    #expect((0...1).contains(schedule.share(at: step, of: total)))
                }
            }
        }
    }

    /// The file's photos to validate on are not those of another folder.
    @Test(
        arguments: [
            ([], "b"), (["data.train=c"], nil), (["data.train=c", "data.validation=d"], "d"),
            (["data.validation=d", "data.train=c"], "d"), (["data.validation=null"], nil),
            (["data.crop=64"], "b"),
        ] as [([String], String?)])
    func validationBelongsToTheTrainingPhotos(_ settings: [String], _ validation: String?) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("file.yaml")
        try Data("data:\n  train: a\n  validation: b\n".utf8).write(to: URL(filePath: path))
        let read = try TrainingConfiguration(contentsOf: path, settings: settings)
        #expect(read.data.validation == validation)
        // A run that goes on keeps its own, unless it is given others.
        let resumed = try TrainingConfiguration(
            contentsOf: path, settings: settings, isOfRun: true)
        #expect(resumed.data.validation == (settings == ["data.train=c"] ? "b" : validation))
    }

    /// People start from the defaults, and name their photos there or on the command line.
    @Test func defaultsLackOnlyThePhotos() throws {
        let defaults = TrainingConfiguration()
        #expect(try TrainingConfiguration(yaml: defaults.yaml) == defaults)
        let scratch = try TemporaryFolder()
        let path = scratch.path("defaults.yaml")
        try Data(defaults.yaml.utf8).write(to: URL(filePath: path))
        let named = try TrainingConfiguration(contentsOf: path, settings: ["data.train=photos"])
        #expect(named.data.train == "photos")
        let error = #expect(throws: TrainingError.self) {
            try TrainingConfiguration(contentsOf: path)
        }
        #expect(error?.description.contains("data.train is missing") == true)
    }

    @Test(arguments: [
        ("bach: 4", "x.yaml:1: there is no key bach; did you mean batch?"),
        (
            "seed: 1\noptimizer:\n  learnig_rate: 1",
            "x.yaml:3: there is no key optimizer.learnig_rate; "
                + "did you mean optimizer.learning_rate?"
        ),
        (
            "learning_rate: 1",
            "x.yaml:1: there is no key learning_rate; did you mean optimizer.learning_rate?"
        ),
        ("steps: many", "x.yaml:1: steps is \"many\"; it takes a whole number"),
        ("data:\n  crop: 7", "x.yaml:2: data.crop is \"7\"; it takes a whole number from 32 to"),
        ("data:\n  flip: 3", "x.yaml:2: data.flip is \"3\"; it takes true or false"),
        (
            "optimizer: adam",
            "x.yaml:1: optimizer takes keys with values, such as optimizer.kind, "
        ),
        ("- 1", "x.yaml:1: the file takes keys with values"),
        ("seed: 1\n? [a]\n: 1", "x.yaml:2: a key is one name"),
        ("batch: [1, 2]", "x.yaml:1: batch takes one value, not a list: a whole number"),
        ("batch: {a: 1}", "x.yaml:1: batch takes one value, not keys: a whole number"),
        (
            "data:\n  train: [a, b]",
            "x.yaml:2: data.train takes one value, not a list: one folder, file list or packed"
        ),
        ("freeze: [a, b: c]", "x.yaml:1: an item of the list of freeze is no text; put it in"),
        ("loss:\n  perceptual_modules: []", "x.yaml:2: loss.perceptual_modules is null"),
        (
            "data: {crop: 32}\ndata.crop: 64",
            "x.yaml:2: data.crop has a value in x.yaml:1 already; keep one of them"
        ),
        ("batch:", "x.yaml:1: batch is null; it takes"),
        ("architecture: resnet", "x.yaml:1: architecture is \"resnet\"; it takes eccv16"),
        ("loss:\n  kind: l3", "x.yaml:2: loss.kind is \"l3\"; it takes l1, mse, huber"),
        ("optimizer:\n  learning_rate: nan", "x.yaml:2: optimizer.learning_rate is \"nan\""),
        ("batch: {", "x.yaml:2: is not valid YAML: did not find expected node content"),
        ("seed: 1\nfreeze: *.bias", "x.yaml:2: is not valid YAML: did not find expected alpha"),
        ("seed: 1\nsteps: \u{1}", "x.yaml:2: is not valid YAML: control characters"),
        ("seed: 1\nbatch: 1\nbatch: 2", "x.yaml:2: batch has more than one value; keep one"),
    ])
    func refusesWhatItCannotUse(_ yaml: String, _ message: String) {
        let error = #expect(throws: TrainingError.self) {
            try TrainingConfiguration(yaml: yaml, name: "x.yaml")
        }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("\n") == false)
    }

    @Test(arguments: [
        ("batch", "\"batch\" is not key=value"),
        ("batch=x", "batch is \"x\"; it takes a whole number"),
        ("btch=1", "there is no key btch; did you mean batch?"),
        ("data=3", "data takes keys with values, such as data.train, data.validation, "),
        ("distillation=t.h5", "distillation takes keys with values, such as distillation.teacher"),
    ])
    func refusesWrongSettings(_ setting: String, _ message: String) {
        var configuration = TrainingConfiguration()
        let error = #expect(throws: TrainingError.self) { try configuration.set(setting) }
        #expect(error?.kind == .setting)
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    /// In files and settings.
    @Test(arguments: [
        ("freeze", "[stem.*, \"*.bias\"]", "stem.* *.bias"), ("freeze", "[]", "null"),
        ("data.other_crops", "[64, 96]", "64 96"),
        ("distillation.features", "[up8=up8, context]", "up8=up8 context"),
        ("loss.perceptual_modules", "[model2]", "model2"),
        (
            "optimizer.groups", "[\"stem.*: rate=0.1\", \"head.*: rate=2\"]",
            "stem.*: rate=0.1; head.*: rate=2"
        ),
    ])
    func listsAreTheirItemsInOneText(_ key: String, _ list: String, _ text: String) throws {
        var (expected, set) = (TrainingConfiguration(), TrainingConfiguration())
        try expected.set("\(key)=\(text)")
        #expect(try TrainingConfiguration(yaml: "\(key): \(list)") == expected)
        try set.set("\(key)=\(list)")
        #expect(set == expected)
    }

    /// As on the command line; a run records what it was.
    @Test func theFastestFormatIsAuto() throws {
        let configuration = try TrainingConfiguration(yaml: "compute: auto")
        #expect(configuration.compute == Arithmetic.fastest)
        #expect(!configuration.yaml.contains("compute: auto"))
    }

    /// Settings that contradict each other name the line of one, as long as it has that value.
    @Test func conflictsNameTheirLines() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let yaml = """
            width: 0.25
            steps: 6
            accumulate: 7
            output: "\(scratch.path)/run"
            data: {train: "\(scratch.path)/photos", crop: 32, validation_fraction: 0}
            """
        var configuration = try TrainingConfiguration(yaml: yaml, name: "x.yaml")
        func refusal() -> TrainingError? {
            #expect(throws: TrainingError.self) { try TrainingRun(configuration) }
        }
        #expect(refusal()?.description.hasPrefix("x.yaml:3: accumulate: is 7, so") == true)
        configuration.accumulate = 8
        #expect(refusal()?.description.hasPrefix("accumulate: is 8, so") == true)
        try configuration.set("accumulate=9")
        let error = refusal()
        #expect(error?.description.hasPrefix("accumulate: is 9, so") == true)
        #expect(error?.kind == .configuration && error?.remedies == [Remedy(.settings)])
        try configuration.set("certainty=1")
        #expect(refusal()?.description.hasPrefix("certainty: mobile-unet has no") == true)
        let missing = try TrainingConfiguration(yaml: yaml + "\ninit: nowhere", name: "x.yaml")
        let file = #expect(throws: FileError.self) { try TrainingRun(missing) }
        #expect(file?.description.contains("check init (x.yaml:6), which is") == true)
    }

    /// Unless a teacher of null takes its settings out of use.
    @Test(
        arguments: [
            ("weight: 0.5", [], "file.yaml:2: distillation.weight: is 0.5, and there is no teach"),
            ("weight: 0.5, teacher: null", [], nil),
            ("final_weight: null", [], nil),
            (
                "teacher: null", ["distillation.logits=1"],
                "distillation.logits: is 1.0, and there is no teacher to learn from; name one in"
            ),
            ("", ["distillation.features=up8"], "distillation.features: is \"up8\", and"),
            ("teacher: a.h5, weight: 1", ["distillation.teacher=null"], nil),
            ("weight: 1", ["distillation.teacher=a.h5"], nil),
        ] as [(String, [String], String?)])
    func distillationNeedsATeacher(
        _ keys: String, _ settings: [String], _ message: String?
    ) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("file.yaml")
        try Data("data: {train: a}\ndistillation: {\(keys)}\n".utf8)
            .write(to: URL(filePath: path))
        guard let message else {
            #expect(throws: Never.self) {
                try TrainingConfiguration(contentsOf: path, settings: settings)
            }
            return
        }
        let error = #expect(throws: TrainingError.self) {
            try TrainingConfiguration(contentsOf: path, settings: settings)
        }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(error?.remedies == (settings.isEmpty ? [] : [Remedy(.settings)]))
    }

    @Test(arguments: [(1.5, nil, 4), (0.1, nil, 1), (2, 7, 14)] as [(Double, Int?, Int)])
    func epochsAreCountedInSteps(_ epochs: Double, _ epochSteps: Int?, _ steps: Int) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(6)
        var configuration = try scratch.configuration("data.validation_fraction=0.2")
        (configuration.epochs, configuration.epochSteps) = (epochs, epochSteps)
        let trainer = try Trainer(configuration)
        #expect(trainer.overview.photos == 5)
        #expect(trainer.configuration.steps == steps)
        try configuration.set("steps=7")
        #expect(try configuration.counted(photos: 5).steps == 7, "what is set last decides")
        try configuration.set("epochs=\(epochs)")
        #expect(try configuration.counted(photos: 5).steps == steps)
        configuration.epochs = 1e6
        configuration.epochSteps = 1_000_000_000
        #expect(throws: TrainingError.self) { try Trainer(configuration) }
    }

    @Test func valuesThatAreSetAsPropertiesAreChecked() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        var configuration = try scratch.configuration()
        configuration.batch = 0
        let error = #expect(throws: TrainingError.self) { try Trainer(configuration) }
        #expect(error?.kind == .configuration)
        #expect(error?.description == "batch: is 0; it takes a whole number from 1 to 4096")
    }

    /// A rate that rises twice, of all parameters or of a group; an end before the first update.
    @Test(
        arguments: [
            (
                "schedule.kind=one-cycle,schedule.warmup_steps=2",
                "schedule.warmup_steps: is 2, and one-cycle has a rise of its own; set it to 0"
            ),
            (
                "optimizer.groups=stem.*: schedule=one-cycle warmup=2",
                "optimizer.groups: \"stem.*: schedule=one-cycle warmup=2\" has a warmup of 2 steps"
            ),
            (
                "optimizer.groups=stem.*: schedule=one-cycle,schedule.warmup_steps=3",
                "optimizer.groups: \"stem.*: schedule=one-cycle\" has a warmup of 3 steps"
            ),
            ("optimizer.groups=stem.*: warmup=0 schedule=one-cycle,schedule.warmup_steps=3", nil),
            ("schedule.kind=one-cycle", nil),
            ("accumulate=7", "accumulate: is 7, so weights would first change after the last of 6"),
            ("accumulate=6", nil),
        ] as [(String, String?)])
    func schedulesThatContradictThemselvesAreRefused(
        _ settings: String, _ message: String?
    ) throws {
        let configuration = try TemporaryFolder().configuration(
            settings.split(separator: ",").map(String.init))
        guard let message else {
            #expect(throws: Never.self) { try configuration.stepSchedule() }
            return
        }
        let error = #expect(throws: TrainingError.self) { try configuration.stepSchedule() }
        #expect(error?.kind == .configuration)
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    /// With a time limit, the curve is as far as the steps or the time, whichever is further.
    @Test func timeShortensTheSchedule() {
        var schedule = Schedule()
        for kind in [Schedule.Kind.cosine, .oneCycle] {
            schedule.kind = kind
            let half = schedule.share(at: 40, of: 80)
            #expect(abs(schedule.share(at: 3, of: 80, elapsed: 0.5) - half) < 1e-9)
            #expect(schedule.share(at: 60, of: 80, elapsed: 0.5) == schedule.share(at: 60, of: 80))
            let end = schedule.share(at: 3, of: 80, elapsed: 1.5)
            #expect(abs(end - schedule.share(at: 80, of: 80)) < 1e-9, "\(kind)")
        }
        (schedule.kind, schedule.every) = (.step, 10)
        #expect(schedule.share(at: 5, of: 80, elapsed: 0.9) == 1)
        (schedule.kind, schedule.warmupSteps) = (.cosine, 4)
        #expect(schedule.share(at: 1, of: 80, elapsed: 0.9) == 0.5)
    }

    @Test func aTeacherFadesWithTheTime() {
        var distillation = TrainingConfiguration().distillation
        (distillation.weight, distillation.finalWeight) = (0.8, 0)
        #expect(abs(distillation.share(at: 0, of: 100, elapsed: 0.75) - 0.2) < 1e-9)
        #expect(distillation.share(at: 99, of: 100, elapsed: 0.1) == 0)
        #expect(distillation.share(at: 0, of: 100, elapsed: 2) == 0)
    }

    /// CosineAnnealingLR(T_max=8, eta_min=0.1) and StepLR(3, 0.5) of PyTorch, from a rate of 1.
    @Test(arguments: [
        (
            Schedule.Kind.cosine,
            [1, 0.965746, 0.868198, 0.722208, 0.55, 0.377792, 0.231802, 0.134254]
        ),
        (.step, [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25]),
        (.constant, [1, 1, 1, 1, 1, 1, 1, 1]),
    ])
    func schedulesAreThoseOfPyTorch(_ kind: Schedule.Kind, _ expected: [Double]) {
        var schedule = Schedule()
        (schedule.kind, schedule.finalShare, schedule.every, schedule.factor) = (kind, 0.1, 3, 0.5)
        for (step, share) in expected.enumerated() {
            #expect(abs(schedule.share(at: step, of: 8) - share) < 1e-6)
        }
        schedule.warmupSteps = 4
        let warmup = (0..<4).map { schedule.share(at: $0, of: 12) }
        #expect(warmup == [0.25, 0.5, 0.75, 1])
        for (step, share) in expected.enumerated() {
            #expect(abs(schedule.share(at: step + 4, of: 12) - share) < 1e-6)
        }
    }
}
