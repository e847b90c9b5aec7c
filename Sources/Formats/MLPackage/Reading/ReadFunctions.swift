import RetintCoreMLProto

/// The function of a model that is read, with its part of the model's description.
struct ChosenFunction {
    let name: String
    /// The names of all functions, the default first; empty if the model has only `main`.
    let names: [String]
    let description: ModelDescription

    /// - Parameter wanted: the function's name; nil for the default.
    init(_ wanted: String?, of model: ProtoModel, in program: ProtoProgram) throws {
        let described = model.description_p.functions
        guard !described.isEmpty else {
            try Self.check(program, has: ["main"])
            try Self.check(wanted, isAmong: ["main"])
            (name, names) = ("main", [])
            description = try at("description") { try ModelDescription(model.description_p) }
            return
        }
        let standard = model.description_p.defaultFunctionName
        let others = described.map(\.name).filter { $0 != standard }
        try require(
            others.count == described.count - 1, "description",
            "the default function \"\(standard)\" has to be described once")
        try Self.check(program, has: [standard] + others)
        try Self.check(wanted, isAmong: [standard] + others)
        let chosen = wanted ?? standard
        (name, names) = (chosen, [standard] + others)
        let own = described.first { $0.name == chosen } ?? described[0]
        let metadata = ModelMetadata(model.description_p.metadata)
        description = try at("description of function \"\(chosen)\"") {
            try ModelDescription(own, metadata.reduced(to: chosen, of: described.map(\.name)))
        }
    }

    private static func check(_ program: ProtoProgram, has names: [String]) throws {
        let own = program.functions.keys.sorted()
        try require(
            own == names.sorted(), "program",
            "its functions are \(own), those of the description \(names.sorted())")
    }

    private static func check(_ wanted: String?, isAmong names: [String]) throws {
        guard let wanted else { return }
        try require(
            names.contains(wanted), "", "it has no function \"\(wanted)\"",
            "It has \(names.joined(separator: ", ")): write one of them after the #.")
    }
}

extension ModelDescription {
    init(_ proto: ProtoFunctionDescription, _ metadata: ModelMetadata) throws {
        try require(proto.state.isEmpty, "", "functions with a state are not supported")
        try require(
            proto.predictedFeatureName.isEmpty, "", "functions with labels are not supported",
            "Convert the network without classifier_config; its output is then the probabilities.")
        inputs = try proto.input.map(Feature.init)
        outputs = try proto.output.map(Feature.init)
        self.metadata = metadata
    }
}
