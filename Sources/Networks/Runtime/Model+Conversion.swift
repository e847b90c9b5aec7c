import RetintArchitectures
public import RetintCheckpoints
public import RetintExport
import RetintGraph
import RetintMIL
public import RetintMLPackage
import RetintTensors

extension Model {
    /// The package of a model of any kind, with its own inputs and outputs under their names, in
    /// which characters that Core ML does not allow are replaced.
    ///
    /// Integers, and true and false, become int32, as in coremltools. Sizes are those of inputs for
    /// photos, [N, C, H, W] with one or three channels. A package keeps its own metadata.
    ///
    /// - Parameters:
    ///   - options: as for a colorizer, without what is said about inputs and outputs; see
    ///     ``takingImage(in:)``.
    ///   - sizes: whether the options state sizes, instead of the model.
    ///   - format: in which the package is written. Core ML has fewer axes than ONNX.
    /// - Throws: ``ModelError`` if the model cannot be run at that size; ``ConversionError`` for
    ///   options that it does not have, for operations that Core ML does not have, and for a
    ///   package whose sizes vary, whose weights are compressed, or of mixed precision, unless only
    ///   a later target is asked for: its program is valid for that, too. A format without targets
    ///   keeps compressed weights.
    public func converted(
        _ options: ExportOptions, sizes: Bool = true, for format: ModelFormat = .coreML
    ) throws -> (package: MLPackage, summary: ExportSummary) {
        try options.checkForOwnInterface()
        let hasTarget = format.options.contains(.target)
        if !sizes, hasTarget, let raised = package?.raised(to: options) {
            return (raised, ExportSummary(raised))
        }
        try package?.checkIsConvertible(with: options, keepingCompression: !hasTarget)
        var conversion = try ModelConversion(self, options, maximumRank: format.maximumRank)
        conversion.keepsCompression = !hasTarget
        if sizes { try conversion.takeSizes() }
        return try readable { try conversion.package() }
    }

    /// The package for inputs of these shapes, by their names in a package; the model's own for an
    /// input that is not named.
    package func converted(_ options: ExportOptions, shapes: [String: Shape]) throws -> MLPackage {
        var conversion = try ModelConversion(
            self, options, maximumRank: ModelFormat.coreML.maximumRank)
        conversion.take(shapes)
        return try readable { try conversion.package().package }
    }
}

extension MLPackage {
    /// The package for a later target, or for its own if it cannot be converted; nil if the options
    /// ask for something else, too.
    fileprivate func raised(to options: ExportOptions) -> MLPackage? {
        let later = options.target.deploymentTarget
        let isKept = later == target && (try? checkIsConvertible(with: options)) == nil
        guard later > target || isKept, var kept = try? ExportOptions(keepingThoseOf: self) else {
            return nil
        }
        kept.target = options.target
        guard kept == options else { return nil }
        var result = self
        result.target = later
        return result
    }

    /// - Throws: ``ConversionError`` for what a conversion would lose.
    fileprivate func checkIsConvertible(
        with options: ExportOptions, keepingCompression: Bool = false
    ) throws {
        let features = description.inputs + description.outputs
        let isHalfImage = features.contains { feature in
            if case .image(let image) = feature.type {
                return image.colorSpace == .grayscaleFloat16
            }
            return false
        }
        let problems = [
            (features.contains { $0.type.isFlexible }, "its sizes vary"),
            (isHalfImage, "it has an image of float16"),
            (
                ModelPrecision(of: self) == .quantized && !keepingCompression,
                "its weights or values are compressed"
            ),
            (ComputePrecision(of: self) == .mixed, "not all of its values are in one precision"),
        ]
        let problem = problems.first(where: \.0)?.1
        guard let problem else { return }
        let isEarlier = options.target.deploymentTarget < target
        throw ExportOptions.refusal(
            "package", "\(problem), which a conversion would not keep",
            "Convert the network that it was made from"
                + (isEarlier
                    ? "; as it is, it is valid for its target and later ones." : "."))
    }
}

/// A model on its way to a package.
private struct ModelConversion {
    private let model: Model
    private let options: ExportOptions
    private let maximumRank: Int?
    private let interface: ModelInterface
    /// The names of inputs and outputs in the package, in the interface's order.
    private let inputNames: [String], outputNames: [String]
    var shapes: [Shape]
    /// Whether compressed weights of a package stay so where operations use them as they are.
    var keepsCompression = false
    private var flexibility = ExportOptions.Flexibility.fixed
    /// The step between two sizes of which a network supports both, as far as is known.
    private static let sizeStep = 64

    init(_ model: Model, _ options: ExportOptions, maximumRank: Int?) throws {
        (self.model, self.options, self.maximumRank) = (model, options, maximumRank)
        let interface = try model.interface
        self.interface = interface
        var used: Set<String> = []
        inputNames = interface.inputs.map { used.insertUnused(MILNames.legal($0.name)) }
        outputNames = interface.outputs.map { used.insertUnused(MILNames.legal($0.name)) }
        shapes = try interface.inputShapes(of: model.name)
    }

    mutating func take(_ given: [String: Shape]) {
        shapes = zip(inputNames, shapes).map { given[$0] ?? $1 }
    }

    /// Takes the sizes of the options for the inputs for photos that leave their sizes open.
    mutating func takeSizes() throws {
        let sides = [2: options.size.height, 3: options.size.width]
        let photos = interface.inputs.indices.filter { interface.inputs[$0].takesPhotos }
        guard !photos.isEmpty else {
            throw ExportOptions.refusal(
                "sizes", "none of the inputs is for photos, [N, 1 or 3, H, W]", "Leave them out.")
        }
        for index in photos where photos.count == 1 || isOpen(index) {
            for (axis, side) in sides {
                let only = interface.inputs[index].shapes.only(axis)
                guard only ?? side == side, only == nil || options.flexibilityLeft == .fixed else {
                    throw ExportOptions.refusal(
                        "sizes",
                        "input \(interface.inputs[index].name) takes only "
                            + "\(shapes[index][3])×\(shapes[index][2])",
                        "Leave them out, or make the network's file for other sizes.")
                }
                shapes[index][axis] = side
            }
            flexibility = options.flexibilityLeft
        }
    }

    private func isOpen(_ index: Int) -> Bool {
        [2, 3].contains { interface.inputs[index].shapes.only($0) == nil }
    }

    func package() throws -> (package: MLPackage, summary: ExportSummary) {
        let (outputs, sources) = try graph(shapes)
        let variables = try sources.mapValues { try $0.tensorData() }
        var lowered = try lower(outputs, variables)
        func sample(_ shapes: [Shape]) throws -> MILProgram {
            try lower(graph(shapes).outputs, variables).program
        }
        let samples = [lowered.program] + (try otherShapes.map(sample))
        lowered.program = try samples[0].generalized(by: Array(samples.dropFirst()))
        let general = lowered.program
        if keepsCompression, let package = model.package {
            lowered.decompressed = lowered.program.keepCompression(
                of: package.program, variables)
        }
        let program = lowered.program
        lowered.program.inputs = inputNames.indices.map { index in
            program.inputs.first { $0.name == inputNames[index] } ?? unused(index)
        }
        var description = ModelDescription(
            inputs: lowered.program.inputs.map(feature),
            outputs: zip(outputNames, interface.outputs).map { name, value in
                let type = program.types[name] ?? MILTensorType(.float32)
                return feature(name, value, type, type.shape.map(Shape.init) ?? [])
            })
        description.metadata = metadata(options.metadata(lowered, variables))
        keepDescriptions(&description)
        if case .network(let network) = model.source {
            var keys = description.metadata.userDefined
            keys[MetadataKey.range] = network.pixelRange.map { "\($0)" }
            keys[NetworkDefinition.MetadataKey.form] = network.formText
            description.metadata.userDefined = keys
        }
        var package = MLPackage(
            target: options.target.deploymentTarget, description: description,
            program: lowered.program)
        let multiple = try sizeMultiple(of: package) { size in
            let more = try samples.dropFirst() + [sample(shapes(for: size))]
            return try samples[0].generalized(by: Array(more)) == general
        }
        package.description.metadata.userDefined[MetadataKey.sizeMultiple] = multiple.map(
            String.init)
        return (package, ExportSummary(package, lowered, multiple))
    }

    /// The number of which height and width have to be multiples; nil if all sizes that the
    /// package states are possible.
    ///
    /// - Parameter hasOperations: see ``PackageSizes/hasOperations``.
    /// - Throws: ``ConversionError`` for a size that is stated, and at which the network computes
    ///   something else.
    private func sizeMultiple(
        of package: MLPackage, hasOperations: @escaping (ExportOptions.Size) throws -> Bool
    ) throws -> Int? {
        guard flexibility != .fixed else { return nil }
        let sizes = PackageSizes(
            package: package,
            shapes: { size in
                let pairs = zip(inputNames, shapes(for: size))
                return Dictionary(pairs.map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
            },
            network: { try graph(shapes(for: $0)).outputs.map(\.value.shape) },
            hasOperations: hasOperations)
        switch flexibility {
        case .fixed: return nil
        case .range(let from, let to): return try sizes.multiple(from: from, to: to)
        case .enumerated(let others):
            for size in others where !sizes.agrees(at: size) {
                throw ConversionError.boundToSize("program", "computation at \(size)")
            }
            return nil
        }
    }

    /// What a package says of its inputs and outputs, and the labels of its probabilities.
    private func keepDescriptions(_ description: inout ModelDescription) {
        guard let own = model.package?.description else { return }
        description.classifier = own.classifier
        let texts = Dictionary(
            (own.inputs + own.outputs).map { ($0.name, $0.shortDescription) },
            uniquingKeysWith: { first, _ in first })
        for features in [\ModelDescription.inputs, \.outputs] {
            for index in description[keyPath: features].indices {
                let name = description[keyPath: features][index].name
                description[keyPath: features][index].shortDescription = texts[name] ?? ""
            }
        }
    }

    /// An input that no output depends on.
    private func unused(_ index: Int) -> MILNamedType {
        let type = lowering.interfaceTypes[inputNames[index]] ?? lowering.inputType
        return MILNamedType(inputNames[index], MILTensorType(type, shapes[index].dimensions))
    }

    /// What is stated, added to what a package states itself.
    private func metadata(_ stated: ModelMetadata) -> ModelMetadata {
        guard var own = model.package?.description.metadata else { return stated }
        if !stated.author.isEmpty { own.author = stated.author }
        if !stated.license.isEmpty { own.license = stated.license }
        if !stated.version.isEmpty { own.version = stated.version }
        own.userDefined.merge(stated.userDefined) { $1 }
        return own
    }

    /// Other shapes, to find what depends on the size; empty if there is one size.
    private var otherShapes: [[Shape]] {
        guard flexibility != .fixed else { return [] }
        return options.otherSizes(multiple: Self.sizeStep).map(shapes(for:))
    }

    /// The shapes of the inputs, with photos of a size where they are open.
    private func shapes(for size: ExportOptions.Size) -> [Shape] {
        shapes.indices.map { index in
            guard interface.inputs[index].takesPhotos, isOpen(index) else { return shapes[index] }
            var shape = shapes[index]
            (shape[2], shape[3]) = (size.height, size.width)
            return shape
        }
    }

    private var lowering: LoweringOptions {
        var lowering = options.lowering
        lowering.isFlexible = flexibility != .fixed
        lowering.inputType = options.elementType.dataType
        lowering.keepsInfinity = true
        lowering.maximumRank = maximumRank
        let values = zip(inputNames + outputNames, interface.inputs + interface.outputs)
        let probabilities = model.package?.description.classifier?.probabilities
        for (name, value) in values {
            if value.colorLayout != nil || name == probabilities {
                lowering.interfaceTypes[name] = .float32
            } else if value.elementType?.isWhole ?? false {
                lowering.interfaceTypes[name] = .int32
            }
        }
        return lowering
    }

    private func lower(
        _ outputs: [(name: String, value: Tensor)], _ variables: [String: TensorData]
    ) throws -> LoweredProgram {
        // What depends on constants alone may depend on the size.
        let outputs = flexibility == .fixed ? try ConstantFolding.folded(outputs) : outputs
        return try MILLowering.lower(outputs, variables: variables, lowering)
    }

    private func graph(
        _ shapes: [Shape]
    ) throws -> (
        outputs: [(name: String, value: Tensor)], variables: [String: any TensorSource]
    ) {
        guard case .network(let network) = model.source else {
            let pairs = zip(interface.inputs.map(\.name), shapes)
            let graph = try model.graph(shapes: Dictionary(pairs) { first, _ in first })
            return (named(graph.outputs), graph.variables)
        }
        let graph = Graph(mode: .inference)
        let inputs = interface.inputs.indices.map { index in
            (interface.inputs[index].name, graph.input(inputNames[index], shapes[index]))
        }
        return (named(try network.build(in: graph, inputs: inputs)), network.variables)
    }

    private func named(
        _ outputs: [(name: String, value: Tensor)]
    ) -> [(name: String, value: Tensor)] {
        zip(outputNames, outputs).map { (name: $0, value: $1.value) }
    }

    private func feature(_ input: MILNamedType) -> Feature {
        let index = inputNames.firstIndex(of: input.name) ?? 0
        return feature(input.name, interface.inputs[index], input.type, shapes[index])
    }

    private func feature(
        _ name: String, _ value: ModelInterface.Value, _ type: MILTensorType, _ shape: Shape
    ) -> Feature {
        let isInput = inputNames.contains(name)
        let isFlexible = isInput && flexibility != .fixed && value.takesPhotos
        guard let space = colorSpace(of: value, shape) else {
            let array = ArrayFeature(
                type.dataType, shape.dimensions,
                isFlexible && shape.rank == 4
                    ? options.arrayFlexibility { [shape[0], shape[1], $0.height, $0.width] }
                    : .fixed)
            return Feature(name, .multiArray(array))
        }
        let image = ImageFeature(
            width: shape[3], height: shape[2], colorSpace: space,
            flexibility: isFlexible ? options.imageFlexibility : .fixed)
        return Feature(name, .image(image))
    }

    /// Of an image; nil for an array.
    private func colorSpace(
        of value: ModelInterface.Value, _ shape: Shape
    ) -> ImageFeature.ColorSpace? {
        guard shape.rank == 4 else { return nil }
        switch value.colorLayout {
        case nil: return nil
        case .grayscale: return .grayscale
        case .rgb: return .rgb
        case .bgr: return .bgr
        }
    }
}
