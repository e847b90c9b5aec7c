import RetintArchitectures
import RetintCheckpoints
import RetintExport
import RetintFiles
import RetintInspection
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// A model with what its file says.
struct ComparedModel {
    let model: Model
    let format: ModelFormat
    let inspection: Inspection
    private(set) var modelInterface: ModelInterface

    init(_ model: Model) throws {
        self.model = model
        format = try ModelFormat(ofModelAt: model.name)
        inspection = try Inspection(of: model.name)
        modelInterface = try model.interface
    }

    /// The model with the interface of its network's file, if the other one has inputs of these
    /// names: a colorizer in a file of another program has names of its own.
    func asWritten(beside other: ComparedModel) -> ComparedModel {
        func names(_ interface: ModelInterface) -> [String] { interface.inputs.map(\.name) }
        let wanted = names(other.modelInterface)
        guard names(modelInterface) != wanted,
            var original = try? model.inOriginalForm.interface, names(original) == wanted
        else { return self }
        var result = self
        for index in original.inputs.indices where index < modelInterface.inputs.count {
            original.inputs[index].role = modelInterface.inputs[index].role
        }
        for index in original.outputs.indices where index < modelInterface.outputs.count {
            original.outputs[index].role = modelInterface.outputs[index].role
        }
        result.modelInterface = original
        return result
    }

    /// The model whose operations and weights are compared with another one's.
    func comparable(to other: ComparedModel) -> Model {
        guard format != other.format else { return model }
        return model.exported(like: other.model) ?? model
    }

    var side: ModelDiff.Side {
        ModelDiff.Side(
            file: model.name, format: format.title, bytes: fileBytes,
            weightBytes: inspection.weightBytes, precision: model.precision,
            compute: model.computePrecision)
    }

    private var fileBytes: Int {
        if case .package(let package) = inspection { return package.diskBytes }
        return (try? totalBytes(of: model.name)) ?? 0
    }

    /// What is stated once for a file.
    var properties: [(String, String)] { inspection.properties }

    var metadata: [(String, String)] {
        inspection.texts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension Inspection {
    /// The bytes of all weights in the file.
    fileprivate var weightBytes: Int {
        switch self {
        case .checkpoint(let checkpoint): checkpoint.totalBytes
        case .package(let package): package.weights.values.reduce(0) { $0 + $1.bytes }
        case .onnx(let onnx): onnx.tensors.reduce(0) { $0 + $1.bytes }
        case .tensors(let tensors): tensors.totalBytes
        }
    }

    fileprivate var properties: [(String, String)] {
        let stated: [(String, String?)] =
            switch self {
            case .checkpoint(let checkpoint):
                [
                    ("network", "\(checkpoint.network)"),
                    ("training step", checkpoint.step.map(String.init)),
                ]
            case .package(let package):
                [
                    ("target", package.target),
                    ("specification version", package.specificationVersion.map(String.init)),
                    ("operation set", package.opset),
                    ("functions", package.functions?.joined(separator: ", ")),
                ]
            case .onnx(let onnx):
                [("operation set", "ONNX \(onnx.opset)"), ("producer", onnx.producer)]
            case .tensors: []
            }
        return stated.compactMap { name, text in text.map { (name, $0) } }
    }

    fileprivate var texts: [String: String] {
        switch self {
        case .checkpoint, .tensors: [:]
        case .package(let package): package.metadata
        case .onnx(let onnx): onnx.metadata
        }
    }

    /// The number of operations of each type, in the file's own words; nil for a checkpoint.
    var operationCounts: [String: Int]? {
        switch self {
        case .package(let package): package.operations
        case .onnx(let onnx): onnx.operations
        case .checkpoint, .tensors: nil
        }
    }

    /// The stored element types of weights by name, where the file lists them.
    var storedTypes: [String: String] {
        switch self {
        case .checkpoint(let checkpoint): checkpoint.tensors.typesByName
        case .onnx(let onnx): onnx.tensors.typesByName
        case .package, .tensors: [:]
        }
    }
}

extension [TensorInspection] {
    fileprivate var typesByName: [String: String] {
        Dictionary(compactMap { tensor in tensor.type.map { (tensor.name, $0) } }) { $1 }
    }
}

extension Model {
    /// A checkpoint as the float32 package that `export` makes of it, for the size of another
    /// model's input; nil for any other model, and for a network that cannot be exported.
    fileprivate func exported(like other: Model) -> Model? {
        guard let source = checkpoint else { return nil }
        var options = ExportOptions()
        if let shape = try? other.inputShapes().first, shape.rank == 4 {
            (options.height, options.width) = (shape[2], shape[3])
        }
        if let only = try? source.network.make().onlySize {
            (options.height, options.width) = (only.height, only.width)
        }
        guard let package = try? source.checkpoint().package(options) else { return nil }
        return Model(package, name: name, execution: execution)
    }
}
