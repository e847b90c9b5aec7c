import RetintCoreMLProto

/// How a classifier makes labels of its probabilities: the operation `classify` of its program and
/// the outputs that this gives, as they were read.
///
/// A package in memory has the probabilities as an output instead; they are what conversions and
/// quantization change. It is written with the labels again.
package struct Classifier: Hashable, Sendable {
    /// The output of the package that the labels are made of.
    package let probabilities: String
    private let operation: ProtoOperation
    private let features: [ProtoFeatureDescription]
    private let predictedFeature, predictedProbabilities: String

    private static let parameter = "probabilities"

    /// The labels, in the order of the probabilities; nil if the operation does not list them.
    package var labels: [String]? {
        guard case .value(let value) = operation.inputs["classes"]?.arguments.first?.binding,
            case .list(let list) = value.immediateValue.value
        else { return nil }
        return list.values.map { label in
            switch label.immediateValue.tensor.value {
            case .strings(let strings): strings.values.first ?? ""
            case .longInts(let numbers): numbers.values.first.map { "\($0)" } ?? ""
            case .ints(let numbers): numbers.values.first.map { "\($0)" } ?? ""
            default: ""
            }
        }
    }

    /// The names of the outputs that apps get: the label and the probability of each label.
    package var outputs: [String] { features.map(\.name) }

    /// What a file without labels does not have.
    package var leftOut: String {
        let count = labels.map { "the \($0.count) labels" } ?? "the labels"
        return "\(count) were left out, since the format has none; the output is the probabilities"
    }

    /// Takes the labels off a model; nil if it has none.
    init?(takenFrom model: inout ProtoModel) throws {
        let description = model.description_p
        guard !description.predictedFeatureName.isEmpty else { return nil }
        predictedFeature = description.predictedFeatureName
        predictedProbabilities = description.predictedProbabilitiesName
        guard let opset = model.mlProgram.functions["main"]?.opset,
            var block = model.mlProgram.functions["main"]?.blockSpecializations[opset],
            let index = block.operations.lastIndex(where: { $0.type == "classify" }),
            case .name(let name) = block.operations[index].inputs[Self.parameter]?.arguments.first?
                .binding
        else {
            throw BrokenRule(
                "description",
                "it predicts \"\(description.predictedFeatureName)\", but its program does not "
                    + "end with an operation classify of a value")
        }
        operation = block.operations.remove(at: index)
        probabilities = name
        let given = Set(operation.outputs.map(\.name))
        func isOther(_ output: String) -> Bool { !given.contains(output) && output != name }
        features = description.output.filter { given.contains($0.name) }
        try require(
            given.contains(predictedFeature) && features.count == given.count, "description",
            "the outputs of classify are \(given.sorted()), those described "
                + "\(features.map(\.name).sorted())")
        block.outputs = [name] + block.outputs.filter(isOther)
        model.description_p.output =
            [ProtoFeatureDescription(try Self.feature(name, in: block))]
            + description.output.filter { isOther($0.name) }
        model.description_p.predictedFeatureName = ""
        model.description_p.predictedProbabilitiesName = ""
        model.mlProgram.functions["main"]?.blockSpecializations[opset] = block
    }

    private static func feature(_ name: String, in block: ProtoBlock) throws -> Feature {
        let values = block.operations.lazy.flatMap(\.outputs)
        guard let value = values.first(where: { $0.name == name }) else {
            throw BrokenRule("operation classify", "no operation computes \"\(name)\"")
        }
        let type = try MILNamedType(value).type
        guard let shape = type.shape else {
            throw BrokenRule("operation classify", "labels of a varying number are not supported")
        }
        return Feature(name, .multiArray(ArrayFeature(type.dataType, shape)))
    }

    /// Adds the labels to a model whose output has the probabilities.
    func add(to model: inout ProtoModel, opset: String) throws {
        guard var block = model.mlProgram.functions["main"]?.blockSpecializations[opset],
            block.outputs.contains(probabilities)
        else { throw BrokenRule("", "its output \"\(probabilities)\" has labels, but is missing") }
        let given = operation.outputs.map(\.name)
        block.operations.append(operation)
        block.outputs = given + block.outputs.filter { $0 != probabilities }
        model.mlProgram.functions["main"]?.blockSpecializations[opset] = block
        model.description_p.output =
            features + model.description_p.output.filter { $0.name != probabilities }
        model.description_p.predictedFeatureName = predictedFeature
        model.description_p.predictedProbabilitiesName = predictedProbabilities
    }
}
