import RetintMIL
import RetintMLPackage

/// Creates variants of a float16 package in which some operations compute in float32.
struct MixedPrecision {
    private let package: MLPackage
    private let constants: OriginalConstants
    /// The operations that compute in float16, in order.
    let operations: [MILOperation]

    /// - Parameter original: the float32 package of the same network; operations that it lacks have
    ///   the rounded weights.
    init(_ package: MLPackage, original: MLPackage) {
        self.package = package
        constants = OriginalConstants(package, original: original)
        operations = package.program.computing.filter {
            $0.outputs[0].type.dataType == .float16
        }
    }

    /// The package with some operations, by their indices, in float32.
    func package(keeping kept: Set<Int>) -> MLPackage {
        guard !kept.isEmpty else { return package }
        let names = Set(kept.map { operations[$0].outputs[0].name })
        let source = package.program
        var assembly = ProgramAssembly(source)
        for input in source.inputs { assembly.input(input.name) }
        for operation in source.computing {
            let name = operation.outputs[0].name
            let isKept = names.contains(name)
            assembly.add(
                operation, inFloat32: isKept,
                replacing: isKept ? constants.replacements[name] ?? [:] : [:])
        }
        for output in source.outputs { assembly.output(output) }
        var result = package
        result.program = assembly.program
        result.updateRecords(of: package)
        return result
    }
}

extension MLPackage {
    /// Adapts retint's records about the package that this one was made from.
    fileprivate mutating func updateRecords(of package: MLPackage) {
        let key = "retint.precision"
        if description.metadata.userDefined[key] != nil {
            description.metadata.userDefined[key] = "mixed"
        }
        let defined = Set(program.operations.flatMap { $0.outputs.map(\.name) })
        let outputs = Dictionary(
            package.program.outputs.map { (package.program.aliases[$0] ?? $0, $0) }
        ) { first, _ in first }
        let nodes = NodeRecord(package).nodes.map { name, node in
            (defined.contains(name) ? name : outputs[name] ?? name, node)
        }
        guard !nodes.isEmpty else { return }
        description.metadata.userDefined[NodeRecord.key] =
            NodeRecord(Dictionary(nodes) { first, _ in first }).text
    }
}
