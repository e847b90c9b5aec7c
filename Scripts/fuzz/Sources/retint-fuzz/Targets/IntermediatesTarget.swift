import Foundation

@testable import RetintTensorFiles
@testable import RetintGraph
@testable import RetintVerification

/// A folder of Apple's debugger: the description, then the NumPy file of all its values.
struct IntermediatesTarget: PartsTarget {
    let name = "intermediates"
    let partCount = 2
    private static let metadata = """
        {"inputs": {"x": \(node("x", "placeholder"))}, "outputs": {"y": \(node("y"))},
         "intermediates": {"relu": \(node("relu")), "w": \(node("w", "get_attr"))}}
        """

    private static func node(_ name: String, _ op: String = "call_function") -> String {
        """
        {"node_name": "\(name)", "node_op": "\(op)", "node_target": "aten.relu.default",
         "data_file": "data/x_0001.npy", "shape": [2, 3],
         "torch_dtype": "torch.float32", "numel": 6}
        """
    }

    func seeds() throws -> [[UInt8]] {
        let path = WorkFolder.path("seed.npy")
        return try [StoredType.float32, .float16, .int8].map { type in
            let elements: StoredTensor.Elements =
                type.isFloat ? .float32([1, 2, 3, 4, 5, 6]) : .int64([1, 2, 3, 4, 5, 6])
            try NumPyFile.write(
                StoredTensor(shape: [2, 3], elements: elements, storedType: type), to: path)
            return Parts([Array(Self.metadata.utf8), WorkFolder.read(path)]).bytes
        }
    }

    func run(_ input: [UInt8]) throws {
        let parts = Parts(input, count: 2)
        let folder = WorkFolder.path("x.aimodelintermediates")
        try FileManager.default.createDirectory(
            atPath: folder + "/data", withIntermediateDirectories: true)
        WorkFolder.write(parts.files[0], to: "x.aimodelintermediates/metadata.json")
        let file = WorkFolder.write(parts.files[1], to: "x.aimodelintermediates/data/x_0001.npy")
        _ = try? NumPyFile(file, limits: TensorFileRun.limits).read()
        let reference = try Reference(contentsOf: folder)
        for (path, _) in reference.activations?.shapes ?? [] {
            _ = try reference.activations?.read(path)
        }
    }
}
