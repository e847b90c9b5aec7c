import Engine
import TensorGraph

/// A model compiled for inputs of given shapes, that shows all it computes on the way.
package final class PreparedModel {
    package let path: String
    /// All that the model computes, in its order.
    package let values: [ComputedValue]
    /// Whether the values are those of a package, where one operation may be said in several.
    let isPackage: Bool
    /// The places of the outputs among ``values``; nil for an output that is an input.
    let outputPlaces: [Int?]
    private let inputs: [String]
    let outputs: [String]
    private let scale: Float
    private let program: Program
    private let model: VerifiedModel

    /// - Parameter scale: what inputs are multiplied by first.
    init(
        _ model: VerifiedModel, isPackage: Bool, inputs: [String],
        outputs: [(name: String, value: Tensor)],
        values: [TracedValue], variables: [String: TensorData], scale: Float = 1,
        options: CompileOptions = .init()
    ) throws {
        self.model = model
        self.isPackage = isPackage
        path = model.path
        self.inputs = inputs
        self.outputs = outputs.map(\.name)
        self.values = values.map(\.description)
        self.scale = scale
        outputPlaces = outputs.map { output in
            values.firstIndex { $0.tensor.id == output.value.id }
        }
        program = try Program(
            outputs: outputs, observing: values.map(\.tensor), options: options)
        try program.load(variables)
    }

    /// Begins a run.
    ///
    /// - Throws: ``VerificationError`` if the inputs are not those that it was compiled for.
    package func start(_ inputs: [NamedTensor]) throws -> ObservedRun {
        let values = try matchInputs(inputs, to: self.inputs, of: path)
        let scaled = scale == 1 ? values : values.mapValues { $0.scaled(by: scale) }
        return try model.tellingModel { try program.start(scaled) }
    }

    /// A sample as the model takes it: lightness that is given as pixels is rounded where the model
    /// turns it back, and what it is compared with has to be given the same.
    func taken(_ sample: Sample) -> Sample {
        guard scale != 1 else { return sample }
        let inputs = sample.inputs.map { input in
            NamedTensor(input.name, input.data.scaled(by: scale).scaled(by: 100 / 255))
        }
        return Sample(labels: sample.labels, inputs: inputs)
    }

    /// A run's outputs in the model's order.
    package func named(_ results: [String: TensorData]) -> [NamedTensor] {
        outputs.compactMap { name in results[name].map { NamedTensor(name, $0) } }
    }
}

extension TensorData {
    fileprivate func scaled(by factor: Float) -> TensorData {
        TensorData(shape: shape, scalars: scalars.map { $0 * factor })
    }
}
