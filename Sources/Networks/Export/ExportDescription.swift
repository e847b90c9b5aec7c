import RetintArchitectures
import RetintFiles
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintTensors

/// The model description: names, types and texts of inputs and outputs.
extension ExportOptions {
    var inputFeature: Feature {
        let lightness =
            normalization == .inside
            ? "Lightness L of CIE Lab, 0 to 100" : "Lightness (L - 50)/100 of CIE Lab, -0.5 to 0.5"
        switch input {
        case .tensor:
            let array = ArrayFeature(inputType, shape(size), arrayFlexibility(shape))
            return Feature("input", .multiArray(array), shortDescription: lightness)
        case .image:
            let image = ImageFeature(
                width: width, height: height, colorSpace: .grayscale,
                flexibility: imageFlexibility)
            return Feature("input", .image(image), shortDescription: "\(lightness)\(pixels)")
        }
    }

    /// The element type of the program's input. A grayscale image is float32 in the program.
    var inputType: MILDataType { input == .image ? .float32 : elementType.dataType }

    /// The meaning of pixel values, as part of a description.
    private var pixels: String {
        guard let imageScaling else { return " as 0 to 255" }
        return ": \(imageScaling.scale) times a pixel of 0 to 255, plus \(imageScaling.bias)"
    }

    private func shape(_ size: Size) -> [Int] { [1, 1, size.height, size.width] }

    /// The sizes of a multi-array.
    package func arrayFlexibility(_ shape: (Size) -> [Int]) -> ArrayFeature.Flexibility {
        switch flexibilityLeft {
        case .fixed: return .fixed
        case .enumerated(let others): return .enumerated(([size] + others).map(shape))
        case .range(let from, let to):
            return .ranges(zip(shape(from), shape(to)).map { SizeRange($0, $1) })
        }
    }

    /// The sizes of an image.
    package var imageFlexibility: ImageFeature.Flexibility {
        switch flexibilityLeft {
        case .fixed: return .fixed
        case .enumerated(let others):
            return .enumerated(
                ([size] + others).map { ImageFeature.Size(width: $0.width, height: $0.height) })
        case .range(let from, let to):
            return .ranges(
                width: SizeRange(from.width, to.width), height: SizeRange(from.height, to.height))
        }
    }

    /// An output. If the size is flexible, its shape is omitted and Core ML infers it, as in
    /// coremltools.
    func outputFeature(_ name: String, in program: MILProgram) -> Feature {
        let range = normalization == .inside ? "-110 to 110" : "divided by 110, -1 to 1"
        let text =
            switch name {
            case "output_a": "Color a of CIE Lab"
            case "output_b": "Color b of CIE Lab"
            default: "Colors a and b of CIE Lab"
            }
        let shape = program.types[name]?.shape ?? []
        return Feature(
            name, .multiArray(ArrayFeature(elementType.dataType, shape)),
            shortDescription: "\(text), \(range)")
    }

    /// The number that height and width must be multiples of; nil unless the model takes a range of
    /// sizes, for which the interface cannot state it.
    func multipleToState(_ colorizer: any ColorizerNetwork) -> Int? {
        guard case .range = flexibilityLeft, colorizer.requiredMultiple > 1 else { return nil }
        return colorizer.requiredMultiple
    }
}

/// The keys of retint's entries in a package's metadata.
package enum MetadataKey {
    package static let architecture = "retint.architecture"
    /// The options other than defaults, in one line.
    static let options = "retint.options"
    static let checkpoint = "retint.checkpoint"
    package static let normalization = "retint.normalization"
    /// The range to which the pixels of an image are converted, of a network with its own inputs.
    package static let range = "retint.range"
    static let imageScale = "retint.image_scale"
    static let imageBias = "retint.image_bias"
    package static let sizeMultiple = "retint.size_multiple"
    /// The number of folded batch normalizations; if it is not 0, the checkpoint's weights cannot
    /// be recovered.
    static let folded = "retint.folded"
    /// The retint that wrote the package.
    static let version = "retint.version"
    /// The prefix of training metrics.
    static let training = "retint.training."
}

extension ExportOptions {
    /// What a package says about the model, whatever it computes.
    package func metadata(
        _ lowered: LoweredProgram, _ variables: [String: TensorData]
    ) -> ModelMetadata {
        var metadata = ModelMetadata()
        (metadata.author, metadata.license, metadata.version) = (author, license, version)
        metadata.userDefined = [
            MetadataKey.checkpoint: weightsHash(variables),
            "retint.precision": lowered.keptInFloat32.isEmpty ? precision.rawValue : "mixed",
            MetadataKey.folded: String(lowered.foldedModules.count),
            MetadataKey.version: retintVersion,
            NodeRecord.key: lowered.record.text,
        ]
        return metadata
    }
}

func metadata(
    _ source: ExportSource, _ options: ExportOptions, _ lowered: LoweredProgram
) -> ModelMetadata {
    var metadata = options.metadata(lowered, source.variables)
    metadata.shortDescription = "Estimates the colors of a photo from its lightness"
    var keys = metadata.userDefined
    keys[MetadataKey.architecture] = source.network.architecture
    keys[MetadataKey.options] = source.network.options.line
    keys[MetadataKey.normalization] = options.normalization.rawValue
    if let scaling = options.imageScaling {
        keys[MetadataKey.imageScale] = "\(scaling.scale)"
        keys[MetadataKey.imageBias] = "\(scaling.bias)"
    }
    keys[MetadataKey.sizeMultiple] = options.multipleToState(source.colorizer).map(String.init)
    for (name, figure) in source.figures { keys[MetadataKey.training + name] = figure }
    metadata.userDefined = keys
    return metadata
}
