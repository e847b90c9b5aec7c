import RetintGraph
import RetintRuntime
import RetintTensors

/// The values of a reference file.
final class ReferenceValues: ExpectedValues {
    private let reference: Reference
    /// The names of the activations by the indices of the model's values.
    private var names: [Int: String] = [:]
    private var runs = 1
    private var index = 0

    init(_ reference: Reference) {
        self.reference = reference
    }

    var source: String { reference.name }

    var isSameNetwork: Bool { false }

    var isColorizer: Bool { reference.isColorizer }

    /// Checks that the outputs can be split evenly among the runs.
    func prepare(first: VerificationInputs.Input, runs: Int) throws {
        self.runs = runs
        for output in reference.outputs where runs > 1 {
            let shape = output.data.shape
            guard shape.rank == 0 || !shape[0].isMultiple(of: runs) else { continue }
            throw VerificationError(
                .badReference, path: reference.name, place: "outputs/\(output.name)",
                "has shape \(shape), which cannot be split evenly among \(runs) images")
        }
    }

    func match(_ program: ModelProgram) {
        names = reference.activations?.names(for: program, images: runs) ?? [:]
    }

    func begin(_ inputs: [NamedTensor], at index: Int) { self.index = index }

    func name(for index: Int) -> String? { names[index] }

    func scalars(for index: Int) throws -> ExpectedScalars? {
        guard let path = name(for: index), let data = try reference.activations?.read(path)
        else { return nil }
        return .rowMajor(part(of: data).scalars)
    }

    func outputs() -> [NamedTensor] {
        reference.outputs.map { NamedTensor($0.name, part(of: $0.data)) }
    }

    private func part(of data: TensorData) -> TensorData {
        guard runs > 1 else { return data }
        let count = data.shape[0] / runs
        return data.images(from: index * count, count: count)
    }
}
