import RetintGraph
import RetintLayers
import RetintRuntime
import RetintTensors

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

        /// Creates the input of a run of a colorizer.
        ///
        /// - Parameters:
        ///   - labels: one for each image.
        ///   - lightness: L in 0…100, [N, 1, H, W].
        public init(labels: [String], lightness: TensorData) {
            self.init(labels: labels, tensors: [NamedTensor("lightness", lightness)])
        }

        var label: String { labels.joined(separator: ", ") }
    }
}

/// The inputs of all runs, created one by one so that memory does not grow with their number.
public struct VerificationInputs {
    /// The number of runs.
    public let count: Int
    /// The input of a run, by its index; all have the same shapes.
    let input: (Int) throws -> VerificationInputs.Input

    /// Creates inputs from a function that returns the input of a run.
    ///
    /// - Parameters:
    ///   - count: the number of runs.
    ///   - input: the input of a run, by its index; all have the same shapes.
    public init(count: Int, input: @escaping (Int) throws -> VerificationInputs.Input) {
        self.count = count
        self.input = input
    }

    /// One run on uniformly random lightness in 0…100.
    ///
    /// - Parameters:
    ///   - shape: the shape of the batch, [N, 1, H, W].
    ///   - seed: the seed of the random numbers.
    public static func noise(shape: Shape, seed: UInt64 = 0) -> VerificationInputs {
        VerificationInputs(count: 1) { _ in
            var random = RandomStream(seed: seed, name: "lightness")
            let scalars = (0..<shape.count).map { _ in Float(100 * random.uniform()) }
            return VerificationInputs.Input(
                labels: (0..<shape[0]).map { "noise \($0 + 1) of seed \(seed)" },
                lightness: TensorData(shape: shape, scalars: scalars))
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
