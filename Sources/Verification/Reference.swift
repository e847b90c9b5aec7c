public import Files
import Models
import TensorFiles
import TensorGraph

/// Inputs, and the outputs that a model is expected to compute from them.
public struct Reference: Sendable {
    /// The path of the file, or the name of the model that computed the outputs.
    public let name: String
    /// The inputs, in the order of the file.
    public let inputs: [NamedTensor]
    /// The expected outputs, in the order of the file.
    public let outputs: [NamedTensor]
    /// The outputs of the original network's modules, read from the file on demand; nil if the
    /// file has none.
    public private(set) var activations: Activations?

    /// Creates a reference from values in memory.
    ///
    /// - Parameters:
    ///   - name: the name that errors and reports use.
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

    /// Reads the datasets `inputs/<name>` and `outputs/<name>` of an HDF5 file.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read; ``VerificationError`` if it has no
    ///   inputs or no outputs, or a value is NaN or infinite.
    public init(contentsOf path: some PathConvertible) throws {
        let reader = try HDF5Reader(path: path)
        try self.init(
            name: reader.path, inputs: Self.tensors(in: "inputs", of: reader),
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
                    "has integers; inputs and outputs must be floats")
            }
            return NamedTensor(name, data)
        }
    }

    private func check(_ tensors: [NamedTensor], in group: String) throws {
        guard !tensors.isEmpty else {
            throw VerificationError(
                .badReference, path: name,
                "has no dataset \(group)/<name>; write a reference file with "
                    + "Scripts/python/export_pytorch.py")
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

/// The group `activations` of a reference file: the output of each module, by its dotted path.
public struct Activations: Sendable {
    private static let group = "activations"

    private let reader: HDF5Reader
    /// The path and the shape of each activation, in the order of the file.
    public let shapes: [(path: String, shape: Shape)]

    /// Nil if the file has none.
    init?(in reader: HDF5Reader) throws {
        guard reader.contains(Self.group) else { return nil }
        self.reader = reader
        shapes = try reader.datasetNames(under: Self.group).map {
            ($0, try reader.shape(of: "\(Self.group)/\($0)"))
        }
    }

    /// Reads the output of a module.
    ///
    /// - Parameter path: the module's dotted path.
    /// - Throws: `TensorFileError` if it cannot be read; ``VerificationError`` if it has integers.
    public func read(_ path: String) throws -> TensorData {
        guard let data = try reader.read("\(Self.group)/\(path)").tensorData else {
            throw VerificationError(
                .badReference, path: reader.path, place: "\(Self.group)/\(path)",
                "has integers; activations must be floats")
        }
        return data
    }
}

extension Reference {
    /// Runs another model in float32 and takes its outputs as the expected ones.
    ///
    /// - Parameters:
    ///   - model: the model that computes the outputs.
    ///   - lightness: L in 0…100, [N, 1, H, W].
    /// - Throws: ``VerificationError`` if the model cannot be run on it, or gives values that are
    ///   NaN or infinite.
    public init(running model: Model, on lightness: TensorData) throws {
        let inputs = [NamedTensor("lightness", lightness)]
        try self.init(
            name: model.name, inputs: inputs, outputs: verifying { try model.run(inputs) })
    }
}
