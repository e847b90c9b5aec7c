import RetintArchitectures
import RetintCheckpoints
import RetintGraph
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

@Suite struct LossTermTests {
    /// Parts of the loss of a network with ab bins, and the inputs of a step's graph.
    struct Case: CustomTestStringConvertible {
        let settings: [String]
        let inputs: Set<StepInput>
        var parts = 1
        var testDescription: String { settings.joined(separator: " ") }
    }

    private static let teacher = "distillation.teacher=teacher.h5"

    static let cases = [
        Case(settings: ["loss.kind=mse"], inputs: [.target]),
        Case(settings: ["loss.kind=classification"], inputs: [.classes, .classWeights]),
        Case(
            settings: ["loss.class_weight=1"], inputs: [.target, .classes, .classWeights],
            parts: 2),
        Case(settings: ["loss.total_variation=1"], inputs: [.target], parts: 2),
        Case(settings: ["loss.temporal=1"], inputs: [.target], parts: 2),
        Case(settings: ["loss.adversarial=1"], inputs: [.lightness, .target], parts: 2),
        Case(settings: [teacher], inputs: [.target, .teacherColors], parts: 2),
        Case(
            settings: [teacher, "distillation.logits=1"],
            inputs: [.target, .teacherColors, .teacherLogits], parts: 3),
        Case(
            settings: [teacher, "distillation.features=up4 stage8=up8"],
            inputs: [
                .target, .teacherColors, .teacherFeature(module: "up4"),
                .teacherFeature(module: "up8"),
            ], parts: 4),
        // Without a teacher, nothing is compared with one.
        Case(settings: ["distillation.logits=1"], inputs: [.target]),
    ]

    @Test(arguments: cases)
    func partsReadTheInputsThatTheyState(_ testCase: Case) throws {
        var configuration = TrainingConfiguration()
        for setting in testCase.settings { try configuration.set(setting) }
        let (loss, distillation) = (configuration.loss, configuration.distillation)
        let network = ClassUNet(options: ColorizerOptions())
        let setup = LossSetup(network: network, loss: loss, hints: false)
        let parts = try (loss.terms + distillation.terms).flatMap { try $0.prepared(setup) }
        #expect(parts.count == testCase.parts)
        #expect(Set(parts.flatMap(\.inputs)) == testCase.inputs)

        let objective = try Objective(network, loss, distillation)
        #expect(Set(objective.teacherInputs) == testCase.inputs.filter(\.isOfTeacher))
        let graph = Graph(mode: .training)
        let prediction = objective.prediction(graph, shape: [2, 1, 32, 32])
        var teacherOutputs: [StepInput: Tensor] = [:]
        for input in objective.teacherInputs {
            let student: Tensor? =
                switch input {
                case .teacherFeature(let module):
                    graph.output(ofModule: module == "up8" ? "stage8" : module)
                case .teacherLogits: prediction.colors.logits
                default: prediction.colors.ab
                }
            teacherOutputs[input] = graph.input(input.name, try #require(student).shape)
        }
        let value = try objective.loss(prediction, teacher: teacherOutputs)
        #expect(value.shape == .scalar)
        let live = graph.live(from: [value.id])
        let names = live.compactMap { (graph.nodes[$0].operation as? Input)?.inputName }
        #expect(Set(names) == Set(testCase.inputs.map(\.name) + ["lightness"]))
    }

    @Test func keysAreThoseOfTheirSections() {
        let fields = TrainingConfiguration.fields.map(\.key)
        #expect(Set(fields).count == fields.count)
        let sections: [(String, any ConfigurationSection.Type)] = [
            ("loss.", TrainingConfiguration.LossSettings.self),
            ("distillation.", TrainingConfiguration.DistillationSettings.self),
        ]
        for (prefix, section) in sections {
            let keys = section.fields.map(\.key)
            #expect(keys == fields.filter { $0.hasPrefix(prefix) } && keys.count > 3)
        }
    }

    /// It used to trap: no part of the loss was left.
    @Test func refusesToClassifyWithoutAClassHead() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(2)
        let configuration = try scratch.configuration(
            "architecture=siggraph17", "width=0.0625", "class_head=false",
            "loss.kind=classification", "data.validation_fraction=0")
        let error = #expect(throws: (any Error).self) { try TrainingRun(configuration) }
        #expect(error.map { "\($0)" }?.contains("set class_head to true") == true)
    }
}
