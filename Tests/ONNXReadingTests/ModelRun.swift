import RetintEngine
import RetintGraph
import RetintTensorFiles
import RetintTensors

@testable import RetintONNXReading

/// A model that runs on given inputs.
enum ModelRun {
    /// What a graph is told of the inputs.
    enum Feeding {
        /// Floats are computed with; integers are known before, as shapes are.
        case floats
        /// The first is computed with, and the others are known.
        case first
        /// Everything is computed with.
        case everything
        /// Everything is known while the graph is built.
        case nothing

        func isKnown(_ tensor: ONNXTensor, isFirst: Bool) -> Bool {
            switch self {
            case .floats: !tensor.type.isFloat
            case .first: !isFirst
            case .everything: false
            case .nothing: true
            }
        }
    }

    /// The outputs, in order.
    static func outputs(
        of model: ONNXModel, _ inputs: [String: ONNXTensor], _ feeding: Feeding = .floats
    ) throws -> [ONNXTensor] {
        let graph = Graph()
        var (values, feeds): ([String: ONNXValue], [String: TensorData]) = ([:], [:])
        for (name, tensor) in inputs {
            let isFirst = name == model.inputs.first?.name
            if feeding.isKnown(tensor, isFirst: isFirst) || tensor.count == 0 {
                values[name] = .host(tensor)
            } else {
                values[name] = .tensor(graph.input(name, tensor.shape), tensor.type)
                feeds[name] = tensor.data
            }
        }
        let outputs = try model.build(in: graph, inputs: values)
        let computed = outputs.compactMap { name, value in
            if case .tensor(let tensor, _) = value { (name: name, value: tensor) } else { nil }
        }
        let results = try computed.isEmpty ? [:] : run(computed, feeds, model.variables)
        return outputs.map { name, value in
            switch value {
            case .host(let tensor): tensor
            case .tensor(let tensor, let type):
                ONNXTensor(
                    floats: results[name]?.scalars ?? [], dimensions: tensor.shape.dimensions,
                    as: type)
            }
        }
    }

    static func run(
        _ outputs: [(name: String, value: Tensor)], _ feeds: [String: TensorData],
        _ variables: [String: TensorData]
    ) throws -> [String: TensorData] {
        let program = try Program(outputs: outputs)
        try program.load(variables)
        return try program.run(feeds)
    }
}

extension ONNXModel {
    /// The values of the graph's variables.
    var variables: [String: TensorData] {
        let roles = roles
        return initializers.filter { roles[$0.key] != nil }.mapValues(\.data)
    }
}

extension ONNXTensor {
    /// - Precondition: the elements are known.
    var data: TensorData { TensorData(shape: shape, scalars: floats!) }

    /// Floats as elements of a type, integers rounded; those that are none become the smallest.
    init(floats: [Float], dimensions: [Int], as type: ONNXElementType) {
        let isFloat = type.isFloat
        self.init(
            type, dimensions,
            isFloat ? .float32(floats) : .int64(floats.map { Int64(exactly: $0.rounded()) ?? .min })
        )
    }

    /// How this tensor differs from the expected one; nil if it does not.
    func difference(
        from expected: ONNXTensor, relative: Float, absolute: Float = 1e-7
    ) -> String? {
        guard dimensions == expected.dimensions else {
            return "its shape is \(dimensions), not \(expected.dimensions)"
        }
        guard type.isFloat == expected.type.isFloat else {
            return "its elements are \(type), not \(expected.type)"
        }
        for (index, (mine, wanted)) in zip(floats ?? [], expected.floats ?? []).enumerated() {
            let isEqual =
                mine == wanted || mine.isNaN && wanted.isNaN
                || Swift.abs(mine - wanted) <= absolute + relative * Swift.abs(wanted)
            guard isEqual else { return "element \(index) is \(mine), not \(wanted)" }
        }
        return nil
    }
}
