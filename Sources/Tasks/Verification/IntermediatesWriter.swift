import Foundation
import RetintEngine
import RetintFiles
import RetintGraph
import RetintMLPackage
import RetintRuntime
import RetintTensorFiles
import RetintTensors
import SystemPackage

/// Writes the values of a model's first run as ``Intermediates``.
final class IntermediatesWriter {
    /// Distinguishes an operation of retint from one of PyTorch.
    static let targetPrefix = "retint."
    /// Names of files and nodes are truncated to this length, so that none is too long for a file
    /// system.
    private static let longestName = 100

    private let folder: FilePath
    private let program: ModelProgram
    private let outputs: Set<Int>
    private let names: [String]
    private var metadata = IntermediatesMetadata()
    private var count = 0

    /// The only contents of a folder that may be replaced.
    ///
    /// Other folders have a `metadata.json` and a folder `data`, too.
    static let content = FolderContent(
        marker: Intermediates.metadataFile,
        recognizes: { (try? Intermediates(contentsOf: $0)) != nil },
        owns: { file in
            file == Intermediates.metadataFile || file.hasPrefix("data/") && file.hasSuffix(".npy")
        })

    /// - Parameter folder: an empty folder.
    init(_ folder: String, of program: ModelProgram, inputs: [NamedTensor]) throws {
        self.folder = folder.filePath
        self.program = program
        outputs = Set(program.outputIndices.compactMap { $0 })
        names = program.uniqueNames
        try createFolder(self.folder.appending("data"))
        for input in inputs {
            let node = try add(input.name, "placeholder", input.name, input.data)
            metadata.inputs[node.nodeName] = node
        }
    }

    /// Writes a value that is not an output.
    func add(_ value: ObservedValue) throws {
        guard !outputs.contains(value.index) else { return }
        let computed = program.values[value.index]
        let target = Self.targetPrefix + computed.operation
        let node = try add(names[value.index], "call_function", target, value.data)
        metadata.intermediates[node.nodeName] = node
    }

    /// Writes the outputs and the description.
    func finish(_ results: [NamedTensor]) throws {
        for (index, output) in results.enumerated() {
            let operation = program.outputIndices[index].map { program.values[$0].operation }
            let target = Self.targetPrefix + (operation ?? "identity")
            let node = try add(output.name, "call_function", target, output.data)
            metadata.outputs[node.nodeName] = node
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.write(
            Array(try encoder.encode(metadata)),
            to: folder.appending(Intermediates.metadataFile))
    }

    private func add(
        _ name: String, _ op: String, _ target: String, _ data: TensorData
    ) throws -> IntermediatesMetadata.Node {
        let number = String(count)
        let padded = String(repeating: "0", count: max(0, 4 - number.count)) + number
        let file = "data/\(Self.fileName(name))_\(padded).npy"
        count += 1
        try NumPyFile.write(StoredTensor(data), to: folder.appending(file))
        return IntermediatesMetadata.Node(
            nodeName: name, nodeOp: op, nodeTarget: target, dataFile: file,
            shape: data.shape.dimensions, torchDtype: "torch.float32", numel: data.shape.count)
    }

    private static func fileName(_ name: String) -> String {
        let legal = name.unicodeScalars.prefix(longestName).map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                ? Character(scalar) : "_"
        }
        return String(legal)
    }
}

extension ModelProgram {
    /// The names of all values; if several have the same name, all but the first have a number.
    var uniqueNames: [String] {
        var known: Set<String> = []
        return values.map { known.insertUnused($0.name) }
    }
}
