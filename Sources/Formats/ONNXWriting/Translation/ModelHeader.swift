import RetintMLPackage
import RetintONNXProto

extension ONNXModelProto {
    /// All but the graph.
    init(_ package: MLPackage, _ options: ONNXOptions, opset: Int) {
        self.init()
        let metadata = package.metadata
        irVersion = Self.fileVersion(opset: opset)
        var operators = ONNXOperatorSetIdProto()
        (operators.domain, operators.version) = ("", Int64(opset))
        opsetImport = [operators]
        producerName = "retint"
        if !options.producerVersion.isEmpty { producerVersion = options.producerVersion }
        if let number = Int64(metadata.version) { modelVersion = number }
        if !metadata.shortDescription.isEmpty { docString = metadata.shortDescription }
        metadataProps = Self.properties(package).map { key, value in
            var property = ONNXStringStringEntryProto()
            (property.key, property.value) = (key, value)
            return property
        }
    }

    /// The version of the file format that came with a version of the operators.
    private static func fileVersion(opset: Int) -> Int64 {
        switch opset {
        case ...11: 6
        case ...14: 7
        case ...18: 8
        case ...20: 9
        default: 10
        }
    }

    /// Texts that are not empty, sorted by key.
    private static func properties(_ package: MLPackage) -> [(String, String)] {
        let metadata = package.metadata
        let own = [
            "author": metadata.author, "description": metadata.shortDescription,
            "license": metadata.license, "version": metadata.version,
            // So that pixels are not taken for lightness when the file is imported.
            "retint.input": package.takesImage ? "image" : "",
            // So that photos are given to the file in the same order of colors.
            MLPackage.blueFirstKey: package.blueFirstInputs.joined(separator: " "),
        ]
        return own.filter { !$0.value.isEmpty }
            .merging(metadata.userDefined) { _, given in given }.sorted { $0.key < $1.key }
    }
}

extension ONNXGraphProto {
    /// A graph without its constants.
    init(_ package: MLPackage, _ nodes: [ONNXNodeProto], _ interface: Interface) throws {
        self.init()
        name = package.metadata.userDefined["retint.architecture"] ?? "main"
        node = nodes
        (input, output) = (interface.inputs, interface.outputs)
        let shown = Set(package.program.outputs)
        valueInfo = try package.program.operations
            .filter { !$0.isConstant && !$0.isConstantExpression }
            .flatMap(\.outputs).filter { !shown.contains($0.name) }
            .map { try ONNXValueInfoProto($0) }
    }
}
