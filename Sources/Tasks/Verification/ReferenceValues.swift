import RetintGraph
import RetintRuntime
import RetintTensors

/// The values of a reference file.
final class ReferenceValues: ExpectedValues {
    private let reference: Reference
    /// The activations by the indices of the model's values.
    private var matches: [Int: Counterpart] = [:]
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

    func match(_ program: ModelProgram, on inputs: VerificationInputs) throws {
        guard let activations = reference.activations else { return }
        let (names, modules) = activations.names(for: program, images: runs)
        matches = names.mapValues { Counterpart(name: $0, pairing: .name) }
        // Names of operations are those of the values.
        let isCertain = activations.isOfOperations
        guard !isCertain || 2 * names.count < activations.shapes.count else { return }
        var (own, others) = (try program.items(on: inputs, count: 1), items(of: activations))
        for index in own.indices { own[index].module = modules[index] }
        if !isCertain {
            for (index, (path, _)) in activations.shapes.enumerated() {
                others[index].module = path
                others[index].kind = activations.kinds[path]
            }
        }
        let positions = Dictionary(
            activations.shapes.enumerated().map { ($1.path, $0) }
        ) { first, _ in first }
        let named = names.compactMapValues { positions[$0] }
        // A convolution with a folded normalization has the name of one, and the values of both; a
        // part of an activation has the name of the whole.
        let agreeing = StructuralMatching.agreeing(named, own, others)
        func pairs(_ named: [Int: Int]) -> [Int: StructuralMatching.Pair] {
            named.mapValues { .init(other: $0, pairing: .name) }
        }
        let matching = StructuralMatching(
            own, others, known: pairs(isCertain ? named : agreeing), names: pairs(named),
            agreement: program.model.precision.agreement,
            outputDifference: outputDifference(own, program))
        matches = matching.pairs.mapValues { pair in
            Counterpart(name: activations.shapes[pair.other].path, pairing: pair.pairing)
        }
    }

    /// The largest relative difference of an output from the expected one on the first input.
    private func outputDifference(
        _ own: [StructuralMatching.Item], _ program: ModelProgram
    ) -> Double {
        program.outputIndices.enumerated().map { place, index in
            let name = program.outputs[place]
            let expected =
                reference.outputs.first { $0.name == name }
                ?? (place < reference.outputs.count ? reference.outputs[place] : nil)
            guard let index, let expected else { return 0 }
            return own[index].difference(
                from: ValueSignature(part(of: expected.data).scalars))
        }
        .max() ?? 0
    }

    private func items(of activations: Reference.Activations) -> [StructuralMatching.Item] {
        activations.shapes.map { path, shape in
            let canBeSplit = runs == 1 || shape.rank > 0 && shape[0] > 0 && shape[0] % runs == 0
            let data = canBeSplit ? try? part(of: activations.read(path)) : nil
            return StructuralMatching.Item(
                operation: "", shape: data?.shape ?? shape, inputs: [],
                signature: data.map { ValueSignature($0.scalars) })
        }
    }

    func begin(_ inputs: [NamedTensor], at index: Int) { self.index = index }

    func counterpart(of index: Int) -> Counterpart? { matches[index] }

    func scalars(for index: Int) throws -> ExpectedScalars? {
        guard let path = matches[index]?.name, let data = try reference.activations?.read(path)
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

extension ModelPrecision {
    /// The relative difference below which values of two frameworks are the same, but for rounding.
    fileprivate var agreement: Double {
        switch self {
        case .float32: 1e-3
        case .float16: 0.02
        case .quantized: 0.2
        }
    }
}
