import Colorizers
import Layers
import MIL
import MLPackage
public import TensorFiles
import TensorGraph

/// The weights of a package as a state dict that PyTorch loads.
public struct RecoveredWeights: Sendable {
    /// Parameters, buffers and counters of the architecture in its order, float32 and int64; for a
    /// package that retint did not make its constants under its own names.
    public let state: StateDict
    /// Nil for a package that retint did not make.
    public let architecture: String?
    /// What was chosen about the architecture, as a checkpoint keeps it.
    public let options: [String: String]
    /// How many tensors the package holds in which form: `fp32`, `fp16`, or the operation that
    /// unpacks them.
    public let storage: [String: Int]
    /// Whether the package's own record says that these are the bits of its checkpoint.
    public let isBitEqual: Bool
    /// Tensors of the state dict that colors do not need and the package does not hold.
    public let absent: [String]
    /// Batch normalizations that the package holds as a part of a convolution, written as ones that
    /// do nothing.
    public let unfolded: [String]

    /// Whether all numbers stand in the package as float32.
    public var isSinglePrecision: Bool { storage.keys.allSatisfy { $0 == "fp32" } }
}

/// Takes the weights out of the package at `path`.
///
/// A package that retint made gives the state dict of its architecture: its program is compared
/// with the network, convolution by convolution, so that names which the package does not keep are
/// found again. Weights that were rounded or compressed come unpacked. Any other package gives its
/// constants as it calls them.
///
/// - Parameter allowsFolded: whether a batch normalization that was folded into its convolution may
///   become one that does nothing behind the folded weights: a network that computes the same
///   numbers from other weights.
/// - Throws: `MLPackageError` if the package cannot be read, ``ConversionError`` if its program is
///   not that of the architecture that it names, or holds folded weights.
public func recoverWeights(
    ofPackageAt path: String, allowsFolded: Bool = false
) throws -> RecoveredWeights {
    let package = try MLPackage(contentsOf: path)
    do {
        let constants = try PackageConstants(package)
        guard let origin = try PackageOrigin(package) else {
            return try RecoveredWeights(of: constants)
        }
        return try RecoveredWeights(
            package, origin, storage: constants.storage, allowsFolded: allowsFolded)
    } catch var error as ConversionError {
        error.file = path
        throw error
    }
}

extension RecoveredWeights {
    fileprivate init(of constants: PackageConstants) throws {
        var state = StateDict()
        for (name, data) in try constants.tensors() { state[name] = StoredTensor(data) }
        self.state = state
        (architecture, options, storage) = (nil, [:], constants.storage)
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
        (architecture, options) = (origin.colorizer.architecture, origin.options)
        self.storage = storage
        absent = spec.tensors.map(\.name).filter { values[$0] == nil }
        unfolded = matching.foldings.map(\.normalization)
        isBitEqual =
            absent.isEmpty && unfolded.isEmpty && weightsHash(values) == origin.checkpointHash
        state = StateDict(spec, values)
    }
}

extension StateDict {
    /// The tensors of `spec` that have values; no batch has been counted.
    fileprivate init(_ spec: StateSpec, _ values: [String: TensorData]) {
        self.init()
        for entry in spec.entries {
            self[entry.name] =
                entry.kind == .counter
                ? StoredTensor(integer: 0) : values[entry.name].map { StoredTensor($0) }
        }
    }
}
