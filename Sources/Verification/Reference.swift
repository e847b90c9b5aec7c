import Models
import TensorFiles
import TensorGraph

/// What a model was given and what it is expected to give.
public struct Reference: Sendable {
    /// The file, or the model that computed the outputs.
    public let name: String
    public let inputs: [NamedTensor]
    public let outputs: [NamedTensor]
    /// What the modules of the original gave; read from the file when it is needed.
    public private(set) var activations: Activations?

    /// Takes the values of a reference file from memory.
    ///
    /// - Throws: ``VerificationError`` if there are no inputs or outputs or not all are finite.
    public init(name: String, inputs: [NamedTensor], outputs: [NamedTensor]) throws {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        try check(inputs, in: "inputs")
        try check(outputs, in: "outputs")
    }

    /// Reads `inputs/<name>` and `outputs/<name>` of an HDF5 file.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``VerificationError`` if it has no
    ///   inputs or outputs, or holds numbers that are infinite or none.
    public init(contentsOf path: String) throws {
        let reader = try HDF5Reader(path: path)
        try self.init(
            name: path, inputs: Self.tensors(in: "inputs", of: reader),
            outputs: Self.tensors(in: "outputs", of: reader))
        activations = try Activations(in: reader)
    }

    private static func tensors(
        in group: String, of reader: HDF5Reader
    ) throws -> [NamedTensor] {
        guard reader.contains(group) else { return [] }
        return try reader.datasetNames(under: group).map { name in
            guard let data = try reader.read("\(group)/\(name)").tensorData else {
                throw VerificationError(
                    .badReference, path: reader.path, place: "\(group)/\(name)",
                    "holds integers; inputs and outputs are floats")
            }
            return NamedTensor(name, data)
        }
    }

    private func check(_ tensors: [NamedTensor], in group: String) throws {
        guard !tensors.isEmpty else {
            throw VerificationError(
                .badReference, path: name,
                "holds no \(group)/<name>; write a reference file with "
                    + "Scripts/python/export_pytorch.py --reference")
        }
        for tensor in tensors {
            guard tensor.data.shape.count > 0 else {
                throw VerificationError(
                    .badReference, path: name, place: "\(group)/\(tensor.name)",
                    "has shape \(tensor.data.shape) and so nothing to compare")
            }
            if let found = NonFinite(in: tensor.data) {
                throw VerificationError(
                    .badReference, path: name, place: "\(group)/\(tensor.name)",
                    "\(found.text); a reference holds finite numbers")
            }
        }
    }
}

/// The group `activations` of a reference file: what each module gave, by its dotted path.
public struct Activations: Sendable {
    private static let group = "activations"

    private let reader: HDF5Reader
    /// In the order of the file.
    public let shapes: [(path: String, shape: Shape)]

    /// Nil where the file has none.
    init?(in reader: HDF5Reader) throws {
        guard reader.contains(Self.group) else { return nil }
        self.reader = reader
        shapes = try reader.datasetNames(under: Self.group).map {
            ($0, try reader.shape(of: "\(Self.group)/\($0)"))
        }
    }

    /// - Throws: `TensorFileError` if it cannot be read, ``VerificationError`` for integers.
    public func read(_ path: String) throws -> TensorData {
        guard let data = try reader.read("\(Self.group)/\(path)").tensorData else {
            throw VerificationError(
                .badReference, path: reader.path, place: "\(Self.group)/\(path)",
                "holds integers; activations are floats")
        }
        return data
    }
}

extension Reference {
    /// The outputs of another model, run in float32.
    ///
    /// - Parameter lightness: [N, 1, H, W] in 0…100.
    public init(running model: Model, on lightness: TensorData) throws {
        let inputs = [NamedTensor("lightness", lightness)]
        try self.init(
            name: model.name, inputs: inputs, outputs: verifying { try model.run(inputs) })
    }
}
