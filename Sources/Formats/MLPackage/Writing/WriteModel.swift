import RetintCoreMLProto

extension ProtoModel {
    /// The message of the model file; without a weight sink it contains all weights.
    init(_ package: MLPackage, weights: WeightSink?) throws {
        self.init()
        specificationVersion = package.target.specificationVersion
        description_p = ProtoModelDescription(package.description)
        mlProgram.version = 1
        mlProgram.functions = [
            "main": try ProtoFunction(package.program, package.target.opset, weights: weights)
        ]
        try package.description.classifier?.add(to: &self, opset: package.target.opset)
    }

    /// The message of a model with several functions.
    init(_ package: MultifunctionPackage, weights: WeightSink?) throws {
        self.init()
        let target = package.functions[0].package.target
        specificationVersion = target.specificationVersion
        description_p = ProtoModelDescription(package.functions)
        mlProgram.version = 1
        // In the given order, so that weights are always written in the same one.
        for (name, function) in package.functions {
            mlProgram.functions[name] = try at("function \"\(name)\"") {
                try ProtoFunction(function.program, target.opset, weights: weights)
            }
        }
    }
}

extension ProtoFunction {
    init(_ program: MILProgram, _ opset: String, weights: WeightSink?) throws {
        self.init()
        self.opset = opset
        inputs = program.inputs.map(ProtoNamedValueType.init)
        var block = ProtoBlock()
        block.outputs = program.outputs
        block.operations = try program.operations.enumerated().map { index, operation in
            try at(operation.place(index)) { try ProtoOperation(operation, weights: weights) }
        }
        blockSpecializations = [opset: block]
    }
}

extension ProtoOperation {
    init(_ operation: MILOperation, weights: WeightSink?) throws {
        self.init()
        type = operation.type
        outputs = operation.outputs.map(ProtoNamedValueType.init)
        let mayHaveBlobs = operation.isConstant || operation.isConstantExpression
        let sink = mayHaveBlobs ? weights : nil
        // Sorted, so that the weights of an operation are always written in the same order.
        for (parameter, arguments) in operation.inputs.sorted(by: { $0.key < $1.key }) {
            inputs[parameter] = try ProtoArgument(arguments, weights: sink)
        }
        for (name, value) in operation.attributes.sorted(by: { $0.key < $1.key }) {
            attributes[name] = try ProtoValue(value, weights: sink)
        }
        attributes["name"] = try ProtoValue(.string(operation.name), weights: nil)
    }
}

extension ProtoArgument {
    init(_ arguments: [MILArgument], weights: WeightSink?) throws {
        self.init()
        self.arguments = try arguments.map { argument in
            var binding = Binding()
            switch argument {
            case .name(let name): binding.name = name
            case .value(let value): binding.value = try ProtoValue(value, weights: weights)
            }
            return binding
        }
    }
}
