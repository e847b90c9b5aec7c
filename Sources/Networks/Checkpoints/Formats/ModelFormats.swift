import RetintAIModel
import RetintFiles
import RetintMLPackage
import RetintNeuralNetwork
import RetintONNXWriting
public import RetintTensorFiles

// A format of models joins with a row of this list, a format of tensors with a row of
// `TensorFileFormat`. All else follows: what is read and how, what `export` writes, what may be
// replaced, what shells complete and what help texts list.
extension ModelFormat {
    /// All formats. A file has the first one that recognizes it.
    public static let all =
        [coreML, compiled, neuralNetwork, coreAI, onnx, checkpoint]
        + TensorFileFormat.allCases.map(ModelFormat.init)

    /// A Core ML package.
    public static let coreML = ModelFormat(
        kind: "mlpackage", title: "Core ML", noun: "a package", extensions: ["mlpackage"],
        recognizes: {
            try MLPackage.isPackage($0) && !coreAI.recognizes($0) && !compiled.recognizes($0)
        },
        content: .package { try MLPackage(contentsOf: $0) },
        writing: .package { package, path, _ in
            try package.write(to: path)
            return try WrittenModel(path)
        },
        options: ModelExportOption.ofPackages.union([.target, .rewriting]), maximumRank: 5,
        checkReplaceable: { path throws(FileError) in try MLPackage.checkReplaceable(path) })

    /// A compiled Core ML package.
    public static let compiled: ModelFormat = ModelFormat(
        kind: "mlmodelc", title: "compiled Core ML", noun: "a compiled Core ML model",
        extensions: ["mlmodelc"], recognizes: { try MLPackage.isCompiled($0) },
        content: .package { try MLPackage(contentsOfCompiled: $0) })

    /// A file of Core ML's neural networks, the form before packages.
    public static let neuralNetwork: ModelFormat = ModelFormat(
        kind: "mlmodel", title: "Core ML neural network", noun: "a Core ML neural network",
        extensions: ["mlmodel"],
        recognizes: { try neuralNetwork.isExtension(of: $0) && !isDirectory($0) },
        content: .package { try MLPackage(contentsOfMLModel: $0) }, namesWeights: false)

    /// A folder of Apple's Core AI.
    public static let coreAI: ModelFormat = ModelFormat(
        kind: "aimodel", title: "Core AI", noun: "a Core AI model", extensions: ["aimodel"],
        recognizes: {
            try MLPackage.isPackage($0)
                && (coreAI.isExtension(of: $0) || MLPackage.holdsAIModel($0))
        },
        content: .package { try MLPackage(contentsOfAIModel: $0) },
        writing: .package { package, path, _ in
            try package.writeAIModel(to: path, producer: "retint \(retintVersion)")
            var written = try WrittenModel(path)
            written.notes = package.aiModelNotes
            return written
        },
        options: ModelExportOption.ofPackages.subtracting([.severalSizes]), maximumRank: 5,
        namesWeights: false,
        checkReplaceable: { path throws(FileError) in
            try MLPackage.checkReplaceableByAIModel(path)
        })

    /// An ONNX file, which has no mark inside.
    public static let onnx: ModelFormat = ModelFormat(
        kind: "onnx", title: "ONNX", noun: "ONNX", extensions: ["onnx"],
        recognizes: { onnx.isExtension(of: $0) },
        content: .graph { try Checkpoint.importing(onnx: $0, form: $1, outputs: $2) },
        writing: .package { package, path, options in
            var own = ONNXOptions(opset: options.opset)
            own.producerVersion = retintVersion
            let network = try ONNXNetwork(package, own)
            return WrittenModel(
                files: try network.write(to: path, externalData: options.externalData),
                notes: network.notes,
                facts: [
                    .text("opset \(network.opset)"), .text("\(network.nodeCount) nodes"),
                    .count(network.weightCount, of: "weights"),
                ])
        },
        options: ModelExportOption.ofPackages.union([.opset]))

    /// A network of retint with its weights, and the state of its training.
    public static let checkpoint = ModelFormat(
        kind: "checkpoint", title: "checkpoint", noun: "a checkpoint",
        extensions: TensorFileFormat.hdf5.extensions,
        recognizes: { Checkpoint.isCheckpoint($0) },
        content: .checkpoint)

    /// Tensors by name: the weights of a network.
    public init(_ format: TensorFileFormat) {
        self.init(
            kind: format.rawValue, title: "PyTorch weights", noun: "weights",
            extensions: format.extensions,
            recognizes: { try TensorFileFormat(ofFileAt: $0) == format }, content: .tensors,
            writing: format.isWritable ? .tensors : nil, options: [.foldedWeights])
    }
}
