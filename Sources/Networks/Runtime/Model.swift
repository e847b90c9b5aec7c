public import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintExport
import RetintFiles
import RetintGraph
import RetintMLPackage
import RetintONNXReading
import RetintTensors

/// A colorizer, or another network, that can be run: a checkpoint, a package, an `.aimodel` or an
/// ONNX file.
///
/// A model is a value that can be shared between tasks. It is compiled for a specific size when it
/// is used, for instance by a `Colorizer`.
public struct Model: Sendable {
    /// The path of the file, or the name of the architecture.
    public let name: String
    /// How the model runs. The verifier has arithmetic of its own.
    public var execution: Execution
    package private(set) var source: Source

    /// Where the model's graph comes from.
    package enum Source: Sendable {
        /// The graph is built by the checkpoint's architecture.
        case checkpoint(CheckpointSource)
        /// The graph is raised from the operations of the package.
        case package(MLPackage)
        /// The graph is that of a file of ONNX's operators.
        case network(GraphNetwork)
    }

    /// Which interface a network of ONNX's operators has.
    public enum NetworkForm: Hashable, Sendable {
        /// Lightness goes in and colors come out, if it can be imported as a colorizer; else as
        /// ``file``.
        case colorizer
        /// That of its file, unless that is already one of lightness.
        case file
        /// That of its file, whatever it is.
        case original
    }

    /// Opens a checkpoint, a package, an `.aimodel`, which is read as a package, or an ONNX file.
    ///
    /// Weights are read when the model is compiled. Until then, its files may be replaced by
    /// others, but not modified, or compiling fails.
    ///
    /// - Parameters:
    ///   - path: the model.
    ///   - form: the interface of an ONNX network.
    ///   - execution: how it is to run.
    /// - Throws: `FileError` if there is no such file; `TensorFileError` and `CheckpointError` for
    ///   a damaged checkpoint; `MLPackageError` for a damaged package; `ConversionError` for an
    ///   `.aimodel` with an operation that is not supported; `ONNXError` for an ONNX file that is
    ///   damaged or has one.
    public init(
        contentsOf path: some PathConvertible, form: NetworkForm = .colorizer,
        execution: Execution = .init()
    ) throws {
        let path = path.filePath.string
        (name, self.execution) = (path, execution)
        if let package = try ModelFormat(ofModelAt: path).readPackage(at: path) {
            source = .package(package)
        } else if try ModelFormat(ofNetworkAt: path).isFor(.graphs) {
            source = try Self.source(ofGraphAt: path, form)
        } else {
            source = .checkpoint(try CheckpointSource(contentsOf: path))
        }
    }

    private static func source(ofGraphAt path: String, _ form: NetworkForm) throws -> Source {
        if form != .colorizer {
            let network = try GraphNetwork(contentsOf: path)
            guard form == .file, network.takesLightness else { return .network(network) }
        }
        do {
            return .checkpoint(try CheckpointSource(contentsOf: path))
        } catch let error as ONNXError {
            guard let network = try? GraphNetwork(contentsOf: path) else { throw error }
            return .network(network)
        }
    }

    /// Creates a model from a checkpoint in memory.
    ///
    /// - Parameters:
    ///   - checkpoint: the network and its weights.
    ///   - name: the name in errors and reports; nil for the architecture.
    ///   - execution: how it is to run.
    public init(_ checkpoint: Checkpoint, name: String? = nil, execution: Execution = .init()) {
        self.init(CheckpointSource(checkpoint), name: name, execution: execution)
    }

    /// Creates a model from a network whose weights are read or created when it is compiled.
    ///
    /// - Parameters:
    ///   - checkpoint: the network.
    ///   - name: the name in errors and reports; nil for the architecture.
    ///   - execution: how it is to run.
    public init(
        _ checkpoint: CheckpointSource, name: String? = nil, execution: Execution = .init()
    ) {
        (self.name, self.execution) = (name ?? checkpoint.network.architecture, execution)
        source = .checkpoint(checkpoint)
    }

    /// Creates a model from a package in memory.
    ///
    /// - Parameters:
    ///   - package: the package.
    ///   - name: the name in errors and reports.
    ///   - execution: how it is to run.
    public init(
        _ package: MLPackage, name: String = "package", execution: Execution = .init()
    ) {
        (self.name, self.execution) = (name, execution)
        source = .package(package)
    }

    /// The precision of the weights and values.
    public var precision: ModelPrecision {
        switch source {
        case .checkpoint(let checkpoint): ModelPrecision(of: checkpoint)
        case .network(let network): ModelPrecision(of: network)
        case .package(let package): ModelPrecision(of: package)
        }
    }

    /// The arithmetic that the model itself declares.
    public var computePrecision: ComputePrecision {
        switch source {
        case .checkpoint, .network: .float32
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

    /// The model with the inputs and outputs of the file that its network was imported from; the
    /// model itself if it was not imported.
    public var inOriginalForm: Model {
        guard let checkpoint, let network = GraphNetwork(checkpoint) else { return self }
        var other = self
        other.source = .network(network)
        return other
    }

    /// The model with the kind of inputs and outputs that another one has, as far as possible:
    /// those of a colorizer, or those of its file, with images as inputs where the other has them.
    ///
    /// - Parameters:
    ///   - other: the model that it is compared with.
    ///   - range: the range in which this model takes photos; nil for that which `other` states.
    ///   - results: the range of its results where the other one returns images; nil for pixels.
    /// - Throws: ``ModelError`` if only the other model takes an image, and no range is known; as
    ///   ``init(contentsOf:form:execution:)`` and ``interface``.
    public func inForm(
        of other: Model, range: ValueRange? = nil, results: ValueRange? = nil
    ) throws -> Model {
        let interface = try other.interface
        guard !interface.isColorizer else {
            if let imported = try asImported(by: other) { return imported }
            guard case .network = source else { return self }
            return try Model(contentsOf: name, form: .colorizer, execution: execution)
        }
        let original = try inOriginalForm.returningImages(like: interface, in: results)
        let names = try original.tensorsForPhotos(like: interface)
        guard !names.isEmpty else { return original }
        guard let range = range ?? other.statedRange else {
            throw ModelError(
                .inputs, name,
                "takes a tensor, and \(other.name) takes an image: state the range in which the "
                    + "network takes photos (--range)")
        }
        return try original.takingImages(names, in: range)
    }

    /// The model with images in place of its outputs where another one has some.
    ///
    /// - Parameter range: of the outputs; nil if they are pixels already.
    private func returningImages(
        like other: ModelInterface, in range: ValueRange?
    ) throws -> Model {
        let own = try interface.outputs
        guard let range, case .network(let network) = source, own.count == other.outputs.count
        else { return self }
        let names = zip(own, other.outputs).filter { $1.colorLayout != nil }.map(\.0.name)
        var changed = self
        changed.source = .network(network.returningImages(names, in: range))
        return changed
    }

    /// A colorizer in an ONNX file that does not state what it takes and returns, read as a
    /// checkpoint says that was imported from one; nil if there is none, or it says the same.
    private func asImported(by other: Model) throws -> Model? {
        func isGraph(_ model: Model) -> Bool {
            (try? ModelFormat(ofModelAt: model.name))?.isFor(.graphs) == true
        }
        guard case .imported(let stated)? = other.checkpoint?.network, !isGraph(other),
            case .imported(let own)? = checkpoint?.network, isGraph(self),
            own.form != stated.form, try !GraphNetwork(contentsOf: name).statesForm
        else { return nil }
        let read = try Checkpoint.importing(onnx: name, form: ColorFormChoice(stated.form))
        return Model(read.checkpoint, name: name, execution: execution)
    }

    /// Whether the model contains retint's conversions of lightness and colors, around an imported
    /// network: other programs convert with other constants, so that more than rounding differs.
    package var convertsColors: Bool {
        guard (try? interface.isColorizer) == true else { return false }
        if let checkpoint { return GraphNetwork(checkpoint) != nil }
        return package?.description.metadata.userDefined[MetadataKey.architecture]
            == ImportedColorizer.architecture
    }

    /// The model with an image in place of its only input for photos.
    ///
    /// - Parameter range: the range in which the network takes photos: pixels 0…255 are converted
    ///   to it.
    /// - Throws: ``ModelError`` if it is not a package or a network with its file's inputs, of
    ///   which one takes photos of the range's channels.
    public func takingImage(in range: ValueRange) throws -> Model {
        try takingImages(nil, in: range)
    }

    /// - Parameter names: of the inputs; nil for the only one that takes photos.
    private func takingImages(_ names: [String]?, in range: ValueRange) throws -> Model {
        guard let changed = imageSource(names, range) else {
            throw ModelError(
                .inputs, name,
                "cannot take an image of \(range): that needs the file of a network with "
                    + (names == nil ? "one input" : "inputs")
                    + " [1, 1 or 3, H, W] of floats (3 for imagenet)")
        }
        var other = self
        other.source = changed
        return other
    }

    /// The model with images of red, green and blue in the order of another interface, so that both
    /// show the same photo if they get the same values, and their results are the same pictures.
    package func inLayout(of interface: ModelInterface) throws -> Model {
        func reversed(
            _ own: [ModelInterface.Value], _ others: [ModelInterface.Value]
        ) -> [String] {
            zip(own, others).filter { mine, theirs in
                guard let mine = mine.colorLayout, let theirs = theirs.colorLayout else {
                    return false
                }
                return mine != theirs && mine.channels == 3 && theirs.channels == 3
            }.map { $0.0.name }
        }
        let own = try self.interface
        let inputs = reversed(own.inputs, interface.inputs)
        let outputs = reversed(own.outputs, interface.outputs)
        guard !(inputs + outputs).isEmpty else { return self }
        var other = self
        switch source {
        case .package(let package):
            other.source = .package(package.reversingColors(ofInputs: inputs, outputs))
        case .network(let network):
            other.source = .network(network.reversingColors(of: inputs))
        case .checkpoint: break
        }
        return other
    }

    private func imageSource(_ names: [String]?, _ range: ValueRange) -> Source? {
        switch source {
        case .network(let network): network.takingImages(names, in: range).map(Source.network)
        case .package(let package): package.takingImages(names, in: range).map(Source.package)
        case .checkpoint: nil
        }
    }

    /// The tensors that take photos, in a range that is not known, where another model has images.
    ///
    /// - Parameter other: the interface of the other model; packages with other inputs have nothing
    ///   to compare but their programs.
    private func tensorsForPhotos(like other: ModelInterface) throws -> [String] {
        let own = try interface
        let images = other.inputs.filter { input in
            // This model may have an image of that name already.
            input.colorLayout != nil
                && own.inputs.first { $0.name == input.name }?.colorLayout == nil
        }
        switch source {
        case .network(let network): guard network.pixelRange == nil else { return [] }
        case .package:
            guard !own.isColorizer, own.inputs.count == other.inputs.count else { return [] }
        case .checkpoint: return []
        }
        let photos = own.inputs.filter { input in
            input.colorLayout == nil && imageSource([input.name], .unit) != nil
        }
        // A single one may have another name.
        if images.count == 1, photos.count == 1 { return photos.map(\.name) }
        let haveNames = images.allSatisfy { image in photos.contains { $0.name == image.name } }
        return photos.filter { input in
            guard !haveNames else { return images.contains { $0.name == input.name } }
            let place = own.inputs.firstIndex { $0.name == input.name } ?? 0
            return place < other.inputs.count
                && images.contains { $0.name == other.inputs[place].name }
        }
        .map(\.name)
    }

    /// The range in which a package that retint wrote computes with its image.
    private var statedRange: ValueRange? {
        package?.description.metadata.userDefined[MetadataKey.range].flatMap(ValueRange.init)
    }

    /// The model with its colors of a style.
    ///
    /// - Throws: ``ModelError`` if it has no colors of that style, such as a package, whose colors
    ///   were chosen when it was exported.
    public func inStyle(_ style: ColorStyle) throws -> Model {
        guard style != .accurate else { return self }
        guard let changed = checkpoint?.inStyle(style) else {
            throw ModelError(
                .style, name,
                "has no \(style.rawValue) colors; "
                    + (checkpoint == nil
                        ? "use the checkpoint that it was exported from"
                        : "scale its colors by a saturation above 1, or state vivid ones with "
                            + "`retint import --vivid-saturation`"))
        }
        var other = self
        other.source = .checkpoint(changed)
        return other
    }

    /// The same model on a number of threads.
    package func onThreads(_ threads: Int) -> Model {
        var other = self
        other.execution.threads = threads
        return other
    }

    /// What goes in and what comes out.
    ///
    /// - Throws: ``ModelError`` if the metadata of a package is damaged; the errors of
    ///   `NetworkDescription.make()`.
    public var interface: ModelInterface {
        get throws {
            switch source {
            case .checkpoint(let checkpoint): ModelInterface(of: try checkpoint.network.make())
            case .package(let package): try readable { try ModelInterface(package) }
            case .network(let network): network.interface
            }
        }
    }

    /// The values that the model computes between its inputs and its outputs, in their order, at
    /// the size that it has by default.
    ///
    /// - Throws: ``ModelError`` if the model cannot be run.
    public func computedValues() throws -> [ComputedValue] { try graph().values.map(\.description) }

    /// The number of images in a batch; nil if the model takes any number. Checkpoints take any
    /// number, but are run on one at a time, which needs less memory.
    package var batchSize: Int? {
        get throws { checkpoint != nil ? 1 : try interface.batchSize }
    }

    /// The name of the lightness, and the shape [N, 1, H, W] that the model takes by default: a
    /// package's own, 1 × 1 × 256 × 256 for a checkpoint.
    ///
    /// - Throws: ``ModelError`` if the model takes an input other than lightness, as
    ///   ``interface`` does.
    public func lightnessInput() throws -> (name: String, shape: Shape) {
        let interface = try interface
        guard let input = interface.onlyChannel, let shape = input.shapes.standardShape else {
            let inputs = interface.inputs.map { input in
                "\(input.name) \(input.shapes.standardShape.map { "\($0)" } ?? "of unknown shape")"
            }
            throw ModelError(
                .notAColorizer, name,
                "takes \(inputs.joined(separator: ", ")); a colorizer takes one channel of "
                    + "lightness")
        }
        return (input.name, shape)
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
