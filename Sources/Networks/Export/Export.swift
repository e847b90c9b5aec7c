public import RetintArchitectures
import RetintGraph
import RetintMIL
public import RetintMLPackage
import RetintTensors

/// A colorizer with its weights, ready for export.
public struct ExportSource {
    /// Which network it is.
    public let network: NetworkDescription
    /// The network as ``network`` describes it, made.
    public let colorizer: any ColorizerNetwork
    /// Values of parameters and buffers by their names in the state dict.
    package let variables: [String: TensorData]
    /// Training metrics, by name.
    package let figures: [String: String]

    package init(
        _ network: NetworkDescription, colorizer: any ColorizerNetwork,
        variables: [String: TensorData], figures: [String: String] = [:]
    ) {
        self.network = network
        self.colorizer = colorizer
        self.variables = variables
        self.figures = figures
    }
}

extension ExportSource {
    /// The target unless another one is requested: iOS15, or iOS17 for a network that was trained
    /// with the inputs of its layers rounded.
    public var standardTarget: ExportOptions.Target {
        variables.keys.contains { InputRounding.weight(ofRange: $0) != nil } ? .iOS17 : .iOS15
    }

    /// The package, in memory, with a summary.
    ///
    /// - Throws: ``ConversionError`` for options that are inconsistent or not supported by the
    ///   architecture, for weights that are missing, NaN or outside the range of float16, and for
    ///   operations that Core ML does not have.
    public func package(
        _ options: ExportOptions
    ) throws -> (package: MLPackage, summary: ExportSummary) {
        try options.check(for: colorizer)
        let lowered = try lower(self, options)
        var description = ModelDescription(
            inputs: [options.inputFeature],
            outputs: lowered.program.outputs.map { options.outputFeature($0, in: lowered.program) })
        description.metadata = metadata(self, options, lowered)
        let package = MLPackage(
            target: options.target.deploymentTarget, description: description,
            program: lowered.program)
        return (package, ExportSummary(package, lowered, options.multipleToState(colorizer)))
    }

    /// Writes the package to `path`, replacing an existing one. If it throws, nothing is written.
    /// The same source and options give the same bytes.
    ///
    /// - Throws: as ``package(_:)`` does, with the path; an error that names the file if it cannot
    ///   be written.
    package func export(to path: String, options: ExportOptions) throws -> ExportSummary {
        do {
            let (package, summary) = try package(options)
            try package.write(to: path)
            return summary
        } catch var error as ConversionError {
            error.file = path
            throw error
        }
    }
}

/// Lowers the network. For flexible sizes it is lowered for several, and every dimension that
/// differs between the programs is made flexible.
private func lower(_ source: ExportSource, _ options: ExportOptions) throws -> LoweredProgram {
    func lowered(for size: ExportOptions.Size) throws -> LoweredProgram {
        try MILLowering.lower(
            exportedOutputs(source, options, size: size), variables: source.variables,
            options.lowering)
    }
    var result = try lowered(for: options.size)
    let others = try options.otherSizes(multiple: source.colorizer.requiredMultiple).map {
        try lowered(for: $0).program
    }
    result.program = try result.program.generalized(by: others)
    return result
}

extension ExportSummary {
    /// - Parameter lowered: nil for a package whose program was not changed.
    package init(
        _ package: MLPackage, _ lowered: LoweredProgram? = nil, _ sizeMultiple: Int? = nil
    ) {
        let operations = package.program.operations
        operationCount = operations.count { !$0.isConstant }
        weightCount = operations.compactMap(\.constantValue)
            .filter { $0.type.dataType.isFloat }
            .reduce(0) { $0 + ($1.type.elementCount ?? 0) }
        checkpointHash = package.description.metadata.userDefined[MetadataKey.checkpoint] ?? ""
        keptInFloat32 = lowered?.keptInFloat32 ?? []
        foldedCount = lowered?.foldedModules.count ?? 0
        clamped = lowered?.clamped ?? []
        decompressed = lowered?.decompressed ?? []
        self.sizeMultiple = sizeMultiple
    }
}
