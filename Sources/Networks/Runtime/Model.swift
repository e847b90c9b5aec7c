import RetintAIModel
import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintExport
import RetintFiles
import RetintGraph
import RetintMLPackage
import RetintTensors

/// A colorizer that can be run: a checkpoint, a package or an `.aimodel`.
///
/// A model is a value that can be shared between tasks. It is compiled for a specific size when it
/// is used, for instance by a `Colorizer`.
public struct Model: Sendable {
    /// The path of the file, or the name of the architecture.
    public let name: String
    /// The memory limit for the network's activations in bytes, up to the memory of the
    /// machine. If nil, 768 MiB for 512 × 512 pixels and proportionally for others, but at least
    /// 192 MiB, and at least 64 times the weights, proportionally more for larger images. A small
    /// file cannot use up all memory.
    public var memoryLimit: Int?
    /// The format in which convolutions multiply when the model colorizes. The verifier has its own
    /// formats.
    public var arithmetic = Arithmetic.float32
    package let source: Source

    /// Where the model's graph comes from.
    package enum Source: Sendable {
        /// The graph is built by the checkpoint's architecture.
        case checkpoint(CheckpointSource)
        /// The graph is raised from the operations of the package.
        case package(MLPackage)
    }

    /// Opens a checkpoint, a package or an `.aimodel`, which is read as a package.
    ///
    /// Weights are read when the model is compiled. Until then, its files may be replaced by
    /// others, but not modified, or compiling fails.
    ///
    /// - Parameter memoryLimit: see ``memoryLimit``.
    /// - Throws: `FileError` if there is no such file; `TensorFileError` and `CheckpointError` for
    ///   a damaged checkpoint; `MLPackageError` for a damaged package; `ConversionError` for an
    ///   `.aimodel` with an operation that is not supported.
    public init(contentsOf path: some PathConvertible, memoryLimit: Int? = nil) throws {
        let path = path.filePath.string
        (name, self.memoryLimit) = (path, memoryLimit)
        if try MLPackage.isPackage(path) {
            source = .package(try MLPackage(contentsOfModel: path))
        } else {
            source = .checkpoint(try CheckpointSource(contentsOf: path))
        }
    }

    /// Creates a model from a checkpoint in memory.
    ///
    /// - Parameters:
    ///   - checkpoint: the network and its weights.
    ///   - name: the name in errors and reports; nil for the architecture.
    public init(_ checkpoint: Checkpoint, name: String? = nil) {
        self.init(CheckpointSource(checkpoint), name: name)
    }

    /// Creates a model from a network whose weights are read or created when it is compiled.
    ///
    /// - Parameters:
    ///   - checkpoint: the network.
    ///   - name: the name in errors and reports; nil for the architecture.
    public init(_ checkpoint: CheckpointSource, name: String? = nil) {
        self.name = name ?? checkpoint.network.architecture
        source = .checkpoint(checkpoint)
    }

    /// Creates a model from a package in memory.
    ///
    /// - Parameters:
    ///   - package: the package.
    ///   - name: the name in errors and reports.
    ///   - memoryLimit: see ``memoryLimit``.
    public init(_ package: MLPackage, name: String = "package", memoryLimit: Int? = nil) {
        (self.name, self.memoryLimit) = (name, memoryLimit)
        source = .package(package)
    }

    /// The precision of the weights.
    public var precision: ModelPrecision {
        switch source {
        case .checkpoint: .float32
        case .package(let package): ModelPrecision(of: package)
        }
    }

    /// The arithmetic that the model itself declares.
    public var computePrecision: ComputePrecision {
        switch source {
        case .checkpoint: .float32
        case .package(let package): ComputePrecision(of: package)
        }
    }

    /// The checkpoint, whose weights are read when they are needed; nil for a package.
    public var checkpoint: CheckpointSource? {
        if case .checkpoint(let checkpoint) = source { checkpoint } else { nil }
    }

    /// The package; nil for a checkpoint.
    public var package: MLPackage? {
        if case .package(let package) = source { package } else { nil }
    }

    /// The number of images in a batch; nil if the model takes any number.
    package var batchSize: Int? {
        guard let package else { return 1 }
        return package.program.inputs.first?.type.dimensions.first ?? nil
    }

    /// The name of a checkpoint's input.
    static let checkpointInput = "lightness"

    /// The names of the inputs, in the model's order.
    package var inputNames: [String] {
        package.map { $0.program.inputs.map(\.name) } ?? [Self.checkpointInput]
    }

    /// The name of the lightness, and the shape [N, 1, H, W] that the model takes by default: a
    /// package's own, 1 × 1 × 256 × 256 for a checkpoint.
    ///
    /// - Throws: ``ModelError`` if the model takes an input other than lightness.
    package func lightnessInput() throws(ModelError) -> (name: String, shape: Shape) {
        let package: MLPackage
        switch source {
        case .checkpoint(let checkpoint): return (Self.checkpointInput, checkpoint.defaultShape)
        case .package(let held): package = held
        }
        let shapes = package.program.inputs.map { package.defaultShape(of: $0) }
        guard shapes.count == 1, let shape = shapes[0], shape.rank == 4, shape[1] == 1 else {
            let inputs = zip(package.program.inputs, shapes).map { input, shape in
                "\(input.name) \(shape.map { "\($0)" } ?? "of unknown shape")"
            }
            throw ModelError(
                .notAColorizer, name,
                "takes \(inputs.joined(separator: ", ")); a colorizer takes one channel of "
                    + "lightness")
        }
        return (package.program.inputs[0].name, shape)
    }
}

extension CheckpointSource {
    /// The shape of lightness unless another one is requested.
    var defaultShape: Shape {
        let size = network.defaultSize
        return [1, 1, size.height, size.width]
    }
}

extension MLPackage {
    /// The default shape of an input; nil if the package does not state one.
    fileprivate func defaultShape(of input: MILNamedType) -> Shape? {
        if let fixed = input.type.shape { return Shape(fixed) }
        let feature = description.inputs.first { $0.name == input.name }
        return (feature?.type.defaultShape).map { Shape($0) }
    }
}

extension Model {
    /// A hash of the weights, as hexadecimal digits.
    ///
    /// - Throws: ``ModelError`` if the model cannot be run; the error of a file of weights that
    ///   cannot be read.
    package func fingerprint() throws -> String {
        var hash = ContentHash()
        for (name, data) in try graph().variables.sorted(by: { $0.key < $1.key }) {
            hash.update(Array(name.utf8))
            hash.update(try data.tensorData().scalars)
        }
        return hash.digest.hexadecimal
    }
}
