import RetintExport
public import RetintFiles
import RetintGraph
public import RetintRuntime
import RetintTensorFiles
import RetintTensors

/// Inputs, and the outputs that a model is expected to compute from them.
public struct Reference: Sendable {
    /// The path of the file, or the name of the model that computed the outputs.
    public let name: String
    /// The inputs, in the order of the file.
    public let inputs: [NamedTensor]
    /// The expected outputs, in the order of the file.
    public let outputs: [NamedTensor]
    /// The intermediate values of the original network, read from the file on demand; nil if the
    /// file has no such values.
    public private(set) var activations: Reference.Activations?

    /// Creates a reference from values in memory.
    ///
    /// - Parameters:
    ///   - name: the name in errors and reports.
    ///   - inputs: the model's inputs; L in 0…100, [N, 1, H, W], for a colorizer.
    ///   - outputs: the expected outputs; a and b, [N, 2, H, W], for a colorizer.
    /// - Throws: ``VerificationError`` if there are no inputs or no outputs, or a value is NaN or
    ///   infinite.
    public init(name: String, inputs: [NamedTensor], outputs: [NamedTensor]) throws {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        try check(inputs, in: "inputs")
        try check(outputs, in: "outputs")
    }

    /// Reads the datasets `inputs/<name>` and `outputs/<name>` of an HDF5 file, or the inputs and
    /// outputs in a folder `NAME.aimodelintermediates` of Apple's debugger for Core AI.
    ///
    /// - Throws: `FileError` or `TensorFileError` if the file cannot be read; ``VerificationError``
    ///   if it has no inputs or no outputs, or a value is NaN or infinite.
    public init(contentsOf path: some PathConvertible) throws {
        guard (try? FileKind(at: path)) != .directory else {
            try self.init(Intermediates(contentsOf: path))
            return
        }
        let reader = try HDF5Reader(path: path)
        try self.init(
            name: reader.path, inputs: Self.tensors(in: "inputs", of: reader),
            outputs: Self.tensors(in: "outputs", of: reader))
        activations = try Reference.Activations(in: reader)
    }

    private init(_ intermediates: Intermediates) throws {
        try self.init(
            name: intermediates.path,
            inputs: intermediates.inputs.map { NamedTensor($0.name, try intermediates.read($0)) },
            outputs: intermediates.outputs.map { NamedTensor($0.name, try intermediates.read($0)) })
        activations = Reference.Activations(intermediates)
    }

    private static func tensors(
        in group: String, of reader: HDF5Reader
    ) throws -> [NamedTensor] {
        guard reader.contains(group) else { return [] }
        return try reader.datasetNames(under: group).map { name in
            guard let data = try reader.read("\(group)/\(name)").values else {
                throw VerificationError(
                    .badReference, path: reader.path, place: "\(group)/\(name)",
                    "has integers above 2^24, which float32 does not hold")
            }
            return NamedTensor(name, data)
        }
    }

    private func check(_ tensors: [NamedTensor], in group: String) throws {
        guard !tensors.isEmpty else {
            throw VerificationError(
                .badReference, path: name,
                "has no \(group), as \(group)/<name> in an HDF5 file; write a reference file with "
                    + "`python3 -m retint.export_pytorch` (Scripts/python/export_pytorch.py)")
        }
        for tensor in tensors {
            guard tensor.data.shape.count > 0 else {
                throw VerificationError(
                    .badReference, path: name, place: "\(group)/\(tensor.name)",
                    "has shape \(tensor.data.shape), which has no values to compare")
            }
            if let found = NonFinite(in: tensor.data) {
                throw VerificationError(
                    .badReference, path: name, place: "\(group)/\(tensor.name)",
                    "\(found.text); a reference must have finite values")
            }
        }
    }
}

extension Reference {
    /// Whether the values are those of a colorizer: lightness, [N, 1, H, W], goes in, and a and b
    /// come out.
    public var isColorizer: Bool {
        let input = inputs[0].data.shape
        return inputs.count == 1 && input.rank == 4 && input[1] == 1
            && joinedColors(of: outputs) != nil
    }

    /// The inputs and the expected outputs of each run of a model, which may take one image at a
    /// time.
    ///
    /// - Throws: ``VerificationError`` if the outputs cannot be split like the inputs.
    public func runs(
        of model: Model
    ) throws -> (inputs: [[NamedTensor]], outputs: [[NamedTensor]]) {
        let inputs = VerificationInputs(self, batchSize: try verifying { try model.batchSize })
        let values = ReferenceValues(self)
        let all = try (0..<inputs.count).map { try inputs.input($0) }
        if let first = all.first { try values.prepare(first: first, runs: all.count) }
        let outputs = all.indices.map { index in
            values.begin(all[index].tensors, at: index)
            return values.outputs()
        }
        return (all.map(\.tensors), outputs)
    }

    /// Runs another model in float32 and uses its outputs as the expected ones.
    ///
    /// - Parameters:
    ///   - model: the model that computes the outputs.
    ///   - lightness: L in 0…100, [N, 1, H, W].
    /// - Throws: ``VerificationError`` if the model cannot be run on it, or computes values that
    ///   are NaN or infinite.
    public init(running model: Model, on lightness: TensorData) throws {
        let inputs = [NamedTensor("lightness", lightness)]
        try self.init(
            name: model.name, inputs: inputs, outputs: verifying { try model.run(inputs) })
    }
}

extension Model {
    /// The model with the inputs and outputs of the file that it was imported from, if a reference
    /// has such inputs, and not the lightness that the model takes.
    ///
    /// - Throws: as ``interface``.
    public func inForm(of reference: Reference) throws -> Model {
        let original = inOriginalForm
        guard let shape = reference.inputs.first?.data.shape, shape.rank == 4,
            try interface.inputs.first?.shapes.only(1) != shape[1],
            try original.interface.inputs.first?.shapes.only(1) == shape[1]
        else { return self }
        return original
    }
}
