import RetintEngine
package import RetintGraph
package import RetintMIL
package import RetintMLPackage
package import RetintTensors

/// Wraps a program in a package whose inputs and outputs are multi-arrays.
package func package(
    _ program: MILProgram, _ target: DeploymentTarget = .iOS15
) throws -> MLPackage {
    let types = program.types
    func feature(_ name: String) -> Feature {
        let type = types[name] ?? MILTensorType(.float32)
        let isFlexible = type.shape == nil && program.inputs.contains { $0.name == name }
        let ranges = type.dimensions.map { SizeRange($0 ?? 1, $0) }
        return Feature(
            name,
            .multiArray(
                ArrayFeature(
                    type.dataType, isFlexible ? type.dimensions.map { $0 ?? 1 } : type.shape ?? [],
                    isFlexible ? .ranges(ranges) : .fixed)))
    }
    let description = ModelDescription(
        inputs: program.inputs.map { feature($0.name) }, outputs: program.outputs.map(feature))
    return MLPackage(target: target, description: description, program: program)
}

extension RaisedModel {
    /// Runs the graph and returns its outputs by name.
    package func run(_ inputs: [String: TensorData]) throws -> [String: TensorData] {
        let program = try Program(outputs: outputs)
        try program.load(variables)
        return try program.run(inputs)
    }
}
