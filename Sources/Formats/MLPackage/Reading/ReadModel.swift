import RetintCoreMLProto

extension MLPackage {
    /// A parsed model, checked.
    ///
    /// - Parameter function: the name of one of its functions; nil for the default.
    init(_ whole: ProtoModel, function: String?, weights: WeightFiles) throws {
        var model = whole
        let classifier = try Classifier(takenFrom: &model)
        let program = try Self.program(of: model)
        let version = model.specificationVersion
        guard let target = DeploymentTarget(specificationVersion: version) else {
            let known = DeploymentTarget.allCases.map { String($0.specificationVersion) }
            throw BrokenRule(
                "", "the specification version has to be one of \(known), not \(version)",
                "Export the model for one of \(DeploymentTarget.allCases.map(\.rawValue)).")
        }
        try require(!model.isUpdatable, "", "models that train on the device are not supported")
        self.target = target
        let chosen = try ChosenFunction(function, of: model, in: program)
        description = chosen.description
        description.classifier = classifier
        functionNames = chosen.names
        self.program = try MILProgram(
            program, function: chosen.name, opset: target.opset, weights: weights)
        try weights.checkExtents()
        try check()
    }

    private static func program(of model: ProtoModel) throws -> ProtoProgram {
        switch model.type {
        case .mlProgram(let program): return program
        case nil: throw BrokenRule("", "it has no model of a known kind")
        case .some(let other):
            let kind = Mirror(reflecting: other).children.first?.label ?? "other"
            throw BrokenRule(
                "", "the model is of the old kind \"\(kind)\", not an ML Program",
                "Convert the network again to an ML Program, for iOS15 or later.")
        }
    }
}

extension MILProgram {
    init(
        _ proto: ProtoProgram, function: String, opset: String, weights: WeightFiles
    ) throws {
        try require(proto.version == 1, "program", "its version has to be 1, not \(proto.version)")
        let body = proto.functions[function] ?? ProtoFunction()
        try require(
            body.opset == opset, "program",
            "its operation set has to be \(opset), as the specification version says, "
                + "not \"\(body.opset)\"")
        guard let block = body.blockSpecializations[opset] else {
            throw BrokenRule("program", "it has no body for the operation set \(opset)")
        }
        try require(block.inputs.isEmpty, "program", "a function's body must not have inputs")
        inputs = try body.inputs.map(MILNamedType.init)
        outputs = block.outputs
        operations = []
        for (index, operation) in block.operations.enumerated() {
            let place = "operation \(index) (\(operation.type))"
            operations.append(try at(place) { try MILOperation(operation, weights: weights) })
        }
    }
}

extension MILOperation {
    init(_ proto: ProtoOperation, weights: WeightFiles) throws {
        guard proto.blocks.isEmpty else {
            throw BrokenRule(
                "", "operations with control flow are not supported",
                "Convert the network with its loops unrolled, or an ONNX file of it.")
        }
        type = proto.type
        outputs = try proto.outputs.map(MILNamedType.init)
        inputs = [:]
        for (parameter, argument) in proto.inputs {
            inputs[parameter] = try at("parameter \"\(parameter)\"") {
                try argument.arguments.map { try MILArgument($0, weights: weights) }
            }
        }
        attributes = [:]
        for (name, value) in proto.attributes {
            attributes[name] = try at("attribute \"\(name)\"") {
                try MILValue(value, weights: weights)
            }
        }
        name =
            try attributes.removeValue(forKey: "name").map(Self.name) ?? outputs.first?.name ?? ""
    }

    private static func name(_ value: MILValue) throws -> String {
        guard case .strings(let strings) = value.content, let name = strings.first else {
            throw BrokenRule("attribute \"name\"", "it has to be a string")
        }
        return name
    }
}

extension MILArgument {
    init(_ proto: ProtoArgument.Binding, weights: WeightFiles) throws {
        switch proto.binding {
        case .name(let name): self = .name(name)
        case .value(let value): self = .value(try MILValue(value, weights: weights))
        case nil: throw BrokenRule("", "it is bound to nothing")
        }
    }
}
