public import RetintExport
import RetintGraph
import RetintLayers
public import RetintRuntime
public import RetintTensors

extension VerificationInputs {
    /// The input of one run.
    public struct Input: Sendable {
        /// A name for each image of the batch, such as the path of the photo.
        public let labels: [String]
        /// The model's inputs.
        public let tensors: [NamedTensor]

        /// Creates the input of a run.
        ///
        /// - Precondition: there is a label for each image of the batch.
        public init(labels: [String], tensors: [NamedTensor]) {
            self.labels = labels
            self.tensors = tensors
        }

        var label: String { labels.joined(separator: ", ") }
    }
}

/// The inputs of all runs, created one by one so that memory does not grow with their number.
public struct VerificationInputs {
    /// The number of runs.
    public let count: Int
    /// The input of a run, by its index; all have the same shapes.
    public let input: (Int) throws -> VerificationInputs.Input

    /// Creates inputs from a function that returns the input of a run.
    ///
    /// - Parameters:
    ///   - count: the number of runs.
    ///   - input: the input of a run, by its index; all have the same shapes.
    public init(count: Int, input: @escaping (Int) throws -> VerificationInputs.Input) {
        self.count = count
        self.input = input
    }

    /// One run on random values of all inputs of a model.
    ///
    /// - Parameters:
    ///   - interface: the model's.
    ///   - shapes: the shapes of its inputs, in their order.
    ///   - noise: the distributions of inputs by name, instead of
    ///     ``ModelInterface/Value/usualNoise``.
    ///   - seed: the seed of the random numbers.
    public static func noise(
        for interface: ModelInterface, shapes: [Shape], noise: [String: InputNoise] = [:],
        seed: UInt64 = 0
    ) -> VerificationInputs {
        let images = interface.inputs.first?.takesPhotos == true ? shapes[0][0] : 1
        return VerificationInputs(count: 1) { _ in
            VerificationInputs.Input(
                labels: (0..<images).map { "noise \($0 + 1) of seed \(seed)" },
                tensors: zip(interface.inputs, shapes).map { input, shape in
                    // Whatever its name is, lightness has the same values.
                    let stream = input.role == .lightness ? "lightness" : input.name
                    let noise = noise[input.name] ?? input.usualNoise
                    return NamedTensor(
                        input.name, noise.values(shape, seed: seed, name: stream))
                })
        }
    }

    /// A reference's inputs, in batches of the size that a model takes.
    init(_ reference: Reference, batchSize: Int?) {
        let batches = reference.inputs.batches(of: batchSize)
        self.init(count: batches.count) { index in
            let images = batches[index].first?.data.shape.dimensions.first ?? 1
            let labels = (0..<images).map { "image \(index * images + $0 + 1)" }
            return VerificationInputs.Input(labels: labels, tensors: batches[index])
        }
    }
}
