import TensorGraph

/// What a model is run on at a time.
package struct Sample: Sendable {
    /// What the pictures are called, one after another: the paths of photos.
    package let labels: [String]
    package let inputs: [NamedTensor]

    /// - Precondition: there is a label for each picture of the batch.
    package init(labels: [String], inputs: [NamedTensor]) {
        self.labels = labels
        self.inputs = inputs
    }

    var label: String { labels.joined(separator: ", ") }
}

/// All that a model is run on, made one after another so that memory does not grow with them.
package struct Samples {
    package let count: Int
    /// Gives the sample at a place; all have inputs of the same shapes.
    package let sample: (Int) throws -> Sample

    package init(count: Int, sample: @escaping (Int) throws -> Sample) {
        self.count = count
        self.sample = sample
    }

    /// A reference's inputs, in batches of the size that a model takes.
    init(_ reference: Reference, batchSize: Int?) {
        let batches = reference.inputs.batches(of: batchSize)
        count = batches.count
        sample = { index in
            let pictures = batches[index].first?.data.shape.dimensions.first ?? 1
            let labels = (0..<pictures).map { "picture \(index * pictures + $0 + 1)" }
            return Sample(labels: labels, inputs: batches[index])
        }
    }
}
