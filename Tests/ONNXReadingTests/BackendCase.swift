import Foundation
import RetintFiles
import RetintONNXProto

@testable import RetintONNXReading

/// One of ONNX's own tests for programs that run models, as Debian's libonnx-testdata has them: a
/// model, inputs and outputs.
struct BackendCase {
    static let root = "/usr/share/libonnx-testdata/data"
    static let isInstalled = FileManager.default.fileExists(atPath: root)

    /// Kind and name, such as `node/test_abs`.
    let name: String
    private var path: String { "\(Self.root)/\(name)" }

    /// Those of a kind that have a model; without those of bfloat16, whose data are of uint16.
    static func all(_ kind: String) throws -> [BackendCase] {
        try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(kind)").sorted()
            .filter { !$0.contains("BFLOAT16") }
            .map { BackendCase(name: "\(kind)/\($0)") }
            .filter { FileManager.default.fileExists(atPath: "\($0.path)/model.onnx") }
    }

    func model() throws -> ONNXModel {
        let path = "\(path)/model.onnx"
        let proto = try ONNXModelProto(serializedBytes: contents(path))
        guard let changed = proto.raised() else { return try ONNXModel(contentsOf: path) }
        return try naming(path) {
            let files = ExternalFiles(beside: path.filePath)
            var model = try ONNXModel(changed.serializedBytes(), from: .files(files))
            try model.prepare()
            return model
        }
    }

    /// The names of the sets of inputs and outputs.
    func sets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0.hasPrefix("test_data_set_") }.sorted()
    }

    func inputs(_ set: String, _ model: ONNXModel) throws -> [String: ONNXTensor] {
        let proto = try ONNXModelProto(serializedBytes: contents("\(path)/model.onnx"))
        let initializers = Set(proto.graph.initializer.map(\.name))
        let names = proto.graph.input.map(\.name).filter { !initializers.contains($0) }
        return try Dictionary(
            uniqueKeysWithValues: names.enumerated().map { ($1, try tensor(set, "input", $0)) })
    }

    func outputs(_ set: String, _ model: ONNXModel) throws -> [ONNXTensor] {
        try model.outputs.indices.map { try tensor(set, "output", $0) }
    }

    private func tensor(_ set: String, _ kind: String, _ index: Int) throws -> ONNXTensor {
        let path = "\(path)/\(set)/\(kind)_\(index).pb"
        return try ONNXTensor(
            ONNXTensorProto(serializedBytes: contents(path)), at: path, from: .checkpoint)
    }

    private func contents(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path))
    }
}

extension ONNXModelProto {
    /// The same model with operators of opset 7 if it has earlier ones, which differ by an axis
    /// that elements are broadcast along; nil for others.
    fileprivate func raised() -> ONNXModelProto? {
        let broadcasts = graph.node.contains { node in
            node.opType == "PRelu"
                || ["Add", "Sub", "Mul", "Div", "Pow"].contains(node.opType)
                    && node.attribute.contains { $0.name == "axis" }
        }
        guard opsetImport.count == 1, (1...6).contains(opsetImport[0].version), !broadcasts else {
            return nil
        }
        var model = self
        model.opsetImport[0].version = 7
        return model
    }
}
