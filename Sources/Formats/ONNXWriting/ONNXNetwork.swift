import RetintMIL
public import RetintMLPackage
import RetintONNXProto

/// A network in ONNX's format, made from a Core ML package and ready to be written.
///
///     let network = try ONNXNetwork(checkpoint.package())
///     try network.write(to: "colorizer.onnx")
///
/// Names, precision and compression are those of the package.
public struct ONNXNetwork: Sendable {
    /// The version of ONNX's operators.
    public let opset: Int
    /// The number of nodes.
    public let nodeCount: Int
    /// The number of elements of all constants, in the types in which they are stored.
    public let weightCount: Int
    /// Parts that ONNX cannot express and that are therefore missing or larger, one
    /// sentence each.
    public let notes: [String]
    /// All but the constants.
    let model: ONNXModelProto
    let initializers: [Initializer]

    /// Translates a package.
    ///
    /// - Throws: `ConversionError` for operations without a form in ONNX, and for an opset that
    ///   lacks what the model needs; `MLPackageError` for weights that cannot be read.
    public init(_ package: MLPackage, _ options: ONNXOptions = ONNXOptions()) throws {
        try options.check()
        var opset = options.opset ?? ONNXOptions.standardOpset
        while true {
            do {
                self = try Self(package, options, opset: opset)
                return
            } catch let need as OpsetNeeded where options.opset == nil {
                opset = need.opset
            } catch let need as OpsetNeeded {
                throw need.refusal(of: opset)
            }
        }
    }

    private init(_ package: MLPackage, _ options: ONNXOptions, opset: Int) throws {
        let interface = try Interface(package)
        let translation = ProgramTranslation(
            package.program, opset: opset, isOpsetFree: options.opset == nil)
        let notes = try translation.translate()
        let graph = translation.graph
        var model = ONNXModelProto(package, options, opset: opset)
        model.graph = try ONNXGraphProto(package, graph.nodes, interface)
        self.opset = opset
        (nodeCount, initializers) = (graph.nodes.count, graph.initializers)
        weightCount = initializers.reduce(0) { $0 + ($1.value.type.elementCount ?? 0) }
        self.notes = interface.notes.lines + notes.lines
        self.model = model
    }
}

extension ONNXOptions {
    func check() throws {
        guard let opset, !Self.opsets.contains(opset) else { return }
        var error = ConversionError(
            place: "opset \(opset)", rule: "it cannot be written",
            remedy: "Choose one from \(Self.opsets.lowerBound) to \(Self.opsets.upperBound).")
        error.kind = .option
        throw error
    }
}

extension OpsetNeeded {
    /// The error for an opset that the caller chose.
    func refusal(of opset: Int) -> ConversionError {
        var error = ConversionError(
            place: place, rule: "\(what) need opset \(self.opset), not \(opset)",
            remedy: "Choose opset \(self.opset), or none.")
        error.kind = .option
        return error
    }
}
