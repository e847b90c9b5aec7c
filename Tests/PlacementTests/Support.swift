import MLPackage

/// Wraps a program in a package whose inputs and outputs are multi-arrays.
func package(
    _ program: MILProgram, _ target: DeploymentTarget = .iOS15
) throws -> MLPackage {
    let types = program.types
    func feature(_ name: String) -> Feature {
        let type = types[name] ?? MILTensorType(.float32)
        return Feature(name, .multiArray(ArrayFeature(type.dataType, type.shape ?? [])))
    }
    let description = ModelDescription(
        inputs: program.inputs.map { feature($0.name) }, outputs: program.outputs.map(feature))
    return MLPackage(target: target, description: description, program: program)
}
