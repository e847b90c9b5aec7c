public import RetintArchitectures
import RetintCheckpoints
import RetintGraph
import RetintLayers
import RetintMIL
public import RetintMLPackage
public import RetintTensorFiles
import RetintTensors

/// The weights of a package as a state dict that PyTorch loads.
public struct RecoveredWeights: Sendable {
    /// Parameters, buffers and counters in the architecture's order, float32 and int64; for a
    /// package that retint did not export, its constants under their own names.
    public let state: StateDict
    /// Which network they are of; nil for a package that retint did not export.
    public let network: NetworkDescription?
    /// The number of tensors by how the package stores them: `fp32`, `fp16`, or the type of the
    /// operation that decompresses them.
    public let storage: [String: Int]
    /// Whether the weights are bit-identical to the checkpoint's, according to the hash in the
    /// package's metadata.
    public let isBitEqual: Bool
    /// Tensors of the architecture that the output does not depend on and the package omits.
    public let absent: [String]
    /// Batch normalizations that the package has folded into a convolution, returned as
    /// identities.
    public let unfolded: [String]

    /// Whether the package stores all weights as float32.
    public var isSinglePrecision: Bool { storage.keys.allSatisfy { $0 == "fp32" } }
}

extension MLPackage {
    /// The weights of the package as a state dict.
    ///
    /// For a package that retint exported, this is the state dict of its architecture: the program
    /// is matched with the network, convolution by convolution, to find the names that the package
    /// does not keep. Rounded or compressed weights are returned as float32. For any other package,
    /// these are its constants under their own names.
    ///
    /// - Parameter allowsFolded: whether a batch normalization that was folded into its convolution
    ///   is returned as an identity after the folded weights. The network then computes the same
    ///   values from other weights.
    /// - Throws: ``ConversionError`` if the program does not match the architecture in the
    ///   metadata, or contains folded weights although they are not allowed; `MLPackageError` if
    ///   weights cannot be read.
    public func weights(allowsFolded: Bool = false) throws -> RecoveredWeights {
        let constants = try PackageConstants(self)
        guard let origin = try PackageOrigin(self) else {
            return try RecoveredWeights(of: constants)
        }
        return try RecoveredWeights(
            self, origin, storage: constants.storage, allowsFolded: allowsFolded)
    }
}

extension RecoveredWeights {
    /// The weights of the package at `path`, as `MLPackage.weights(allowsFolded:)` returns them.
    ///
    /// - Throws: `FileError` if there is none; `MLPackageError` if it cannot be read, and the
    ///   errors of `weights(allowsFolded:)`, with the package's path; ``ConversionError`` for an
    ///   `.aimodel`, whose weights have no names.
    public init(
        ofPackageAt path: String, allowsFolded: Bool = false
    ) throws {
        guard try ModelFormat(ofModelAt: path).namesWeights else {
            throw ConversionError(
                file: path, place: "", rule: "the weights of an .aimodel have no names",
                remedy: "Export the weights of the checkpoint or package that it was made from.")
        }
        let package = try MLPackage(contentsOf: path)
        do {
            self = try package.weights(allowsFolded: allowsFolded)
        } catch var error as ConversionError {
            error.file = path
            throw error
        }
    }
}

extension RecoveredWeights {
    fileprivate init(of constants: PackageConstants) throws {
        var state = StateDict()
        for (name, data) in try constants.tensors() { state[name] = StoredTensor(data) }
        self.state = state
        (network, storage) = (nil, constants.storage)
        (isBitEqual, absent, unfolded) = (false, [], [])
    }

    fileprivate init(
        _ package: MLPackage, _ origin: PackageOrigin, storage: [String: Int], allowsFolded: Bool
    ) throws {
        let spec = StateSpec(of: origin.colorizer)
        var matching = try ParameterMatching(origin, try RaisedPackage(package).model)
        if !matching.foldings.isEmpty {
            guard allowsFolded else { throw matching.refusal }
            matching.unfold()
        }
        let values = matching.values
        (network, self.storage) = (origin.network, storage)
        absent = spec.tensors.map(\.name).filter { values[$0] == nil }
        unfolded = matching.foldings.map(\.normalization)
        isBitEqual =
            absent.isEmpty && unfolded.isEmpty && weightsHash(values) == origin.checkpointHash
        state = StateDict(spec, values)
    }
}

extension StateDict {
    /// The tensors of `spec` that have values; batch counters are 0.
    fileprivate init(_ spec: StateSpec, _ values: [String: TensorData]) {
        self.init()
        for entry in spec.entries {
            self[entry.name] =
                entry.kind == .counter
                ? StoredTensor(integer: 0) : values[entry.name].map { StoredTensor($0) }
        }
    }
}
