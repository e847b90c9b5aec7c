import TensorGraph

/// What a reference file expects.
final class ReferenceValues: ExpectedValues {
    private let reference: Reference
    private var matching: ActivationMatching?
    private var runs = 1
    private var index = 0

    init(_ reference: Reference) {
        self.reference = reference
    }

    var source: String { reference.name }

    func match(_ model: PreparedModel, first: Sample, runs: Int) throws {
        self.runs = runs
        matching = reference.activations.map {
            ActivationMatching(model, $0.shapes, pictures: runs)
        }
        try checkOutputs()
    }

    /// Runs share the outputs, so there has to be a part for each.
    private func checkOutputs() throws {
        for output in reference.outputs where runs > 1 {
            let shape = output.data.shape
            guard shape.rank == 0 || !shape[0].isMultiple(of: runs) else { continue }
            throw VerificationError(
                .badReference, path: reference.name, place: "outputs/\(output.name)",
                "has shape \(shape), which does not hold the same for each of \(runs) pictures")
        }
    }

    func begin(_ sample: Sample, at index: Int) { self.index = index }

    func name(for place: Int) -> String? { matching?.paths[place] }

    func numbers(for place: Int) throws -> ExpectedNumbers? {
        guard let path = name(for: place), let data = try reference.activations?.read(path)
        else { return nil }
        return .rowMajor(part(of: data).scalars)
    }

    func outputs() -> [NamedTensor] {
        reference.outputs.map { NamedTensor($0.name, part(of: $0.data)) }
    }

    private func part(of data: TensorData) -> TensorData {
        guard runs > 1 else { return data }
        let count = data.shape[0] / runs
        return data.pictures(from: index * count, count: count)
    }
}
