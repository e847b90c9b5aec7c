import Colorizers
import MLPackage
import TensorGraph

/// A colorizer with its weights, ready to be written.
package struct ExportSource {
    /// The registry's name.
    package let architecture: String
    /// The architecture's options as the checkpoint has them.
    package let options: [String: String]
    package let colorizer: any Colorizer
    /// Values of parameters and buffers by their names in the state dict.
    package let variables: [String: TensorData]

    package init(
        architecture: String, options: [String: String] = [:], colorizer: any Colorizer,
        variables: [String: TensorData]
    ) {
        self.architecture = architecture
        self.options = options
        self.colorizer = colorizer
        self.variables = variables
    }
}

/// The package of a colorizer, in memory.
///
/// - Throws: ``ConversionError`` for a size that the architecture does not take, weights that are
///   missing, no numbers, or beyond float16, and operations that Core ML does not have.
package func makePackage(_ source: ExportSource, _ options: ExportOptions) throws -> MLPackage {
    try checkSize(options, source.colorizer)
    let outputs = colorizerOutputs(source.colorizer, options)
    let program = try MILLowering.program(
        outputs: outputs, variables: source.variables, precision: options.precision.dataType,
        target: options.target.deploymentTarget)
    var description = ModelDescription(
        inputs: [inputFeature(options)],
        outputs: outputs.map { output in
            Feature(
                output.name, .multiArray(ArrayFeature(.float32, output.value.shape.dimensions)),
                shortDescription: outputText(output.name))
        })
    description.metadata = metadata(source, options)
    return MLPackage(
        target: options.target.deploymentTarget, description: description, program: program)
}

/// Writes a colorizer's package to `path`, replacing one that stands there; when it throws,
/// nothing was written. The same source and options give the same bytes.
package func exportPackage(
    _ source: ExportSource, to path: String, options: ExportOptions
) throws -> ExportSummary {
    let package: MLPackage
    do {
        package = try makePackage(source, options)
    } catch var error as ConversionError {
        error.file = path
        throw error
    }
    try package.write(to: path)
    return ExportSummary(package)
}

private func checkSize(_ options: ExportOptions, _ colorizer: any Colorizer) throws {
    let multiple = colorizer.requiredMultiple
    let sides = [("height", options.height), ("width", options.width)]
    for (side, size) in sides where size % multiple != 0 || !(multiple...16384).contains(size) {
        let below = max(multiple, min(size, 16384) / multiple * multiple)
        var error = ConversionError(
            place: "\(side) \(size)",
            rule: "\(colorizer.architecture) takes multiples of \(multiple) up to 16384",
            remedy: "Choose for example \(below).")
        error.cause = .option
        throw error
    }
}

/// The graph from what the model takes to what it gives.
private func colorizerOutputs(
    _ colorizer: any Colorizer, _ options: ExportOptions
) -> [(name: String, value: Tensor)] {
    let graph = Graph(mode: .inference)
    let input = graph.input("input", [1, 1, options.height, options.width])
    let lightness = options.input == .image ? input * (100 / 255) : input
    let ab = colorizer(lightness)
    guard options.output == .split else { return [("ab", ab)] }
    return [
        ("output_a", ab.sliced(axis: 1, 0..<1)), ("output_b", ab.sliced(axis: 1, 1..<2)),
    ]
}

private func inputFeature(_ options: ExportOptions) -> Feature {
    switch options.input {
    case .tensor:
        let array = ArrayFeature(.float32, [1, 1, options.height, options.width])
        return Feature(
            "input", .multiArray(array), shortDescription: "Lightness L of CIE Lab, 0 to 100")
    case .image:
        let image = ImageFeature(
            width: options.width, height: options.height, colorSpace: .grayscale)
        return Feature(
            "input", .image(image),
            shortDescription: "Lightness L of CIE Lab, 0 to 100 as 0 to 255")
    }
}

private func outputText(_ name: String) -> String {
    switch name {
    case "output_a": "Color a of CIE Lab, -110 to 110"
    case "output_b": "Color b of CIE Lab, -110 to 110"
    default: "Colors a and b of CIE Lab, -110 to 110"
    }
}

private func metadata(_ source: ExportSource, _ options: ExportOptions) -> ModelMetadata {
    var metadata = ModelMetadata()
    metadata.shortDescription = "Estimates the colors of a photo from its lightness"
    metadata.author = options.author
    metadata.license = options.license
    let choices = source.options.sorted { $0.key < $1.key }
    metadata.userDefined = [
        "retint.architecture": source.architecture,
        "retint.options": choices.map { "\($0)=\($1)" }.joined(separator: " "),
        "retint.checkpoint": weightsHash(source.variables),
        "retint.precision": options.precision.rawValue,
    ]
    return metadata
}

extension ExportSummary {
    init(_ package: MLPackage) {
        let operations = package.program.operations
        operationCount = operations.count { !$0.isConstant }
        weightCount = operations.compactMap(\.constantValue)
            .filter { $0.type.dataType.isFloat }
            .reduce(0) { $0 + ($1.type.elementCount ?? 0) }
        checkpointHash = package.description.metadata.userDefined["retint.checkpoint"] ?? ""
    }
}
