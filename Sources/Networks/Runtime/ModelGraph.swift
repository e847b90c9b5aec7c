import RetintArchitectures
import RetintCheckpoints
import RetintExport
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintONNXReading
import RetintTensors

/// A model's graph for inputs of given shapes, before it is compiled.
package struct ModelGraph {
    package let model: Model
    package let graph: Graph
    package let inputs: [(name: String, shape: Shape)]
    package let outputs: [(name: String, value: Tensor)]
    /// The weights, by the names of the graph's variables.
    package let variables: [String: any TensorSource]
    /// The model's interface, which knows the roles of a colorizer's inputs and outputs.
    package let interface: ModelInterface
    /// The factor from L (0…100) to the graph's input.
    package let lightnessScale: Float
    /// All values between inputs and outputs, in the order of computation.
    package private(set) var values: [TracedValue]
    /// All values of a package that are not constants, by their names in its program.
    fileprivate var named: [String: Tensor] = [:]
}

extension Model {
    /// Builds the model's graph.
    ///
    /// - Parameters:
    ///   - shapes: the shapes of inputs by name, [N, 1, H, W] for lightness; the model's own shape
    ///     for an input that is not named.
    ///   - compute: the arithmetic that the graph expresses. A checkpoint's graph is always
    ///     float32; compile it with `CompileOptions.roundsToHalf` for float16.
    ///   - folds: whether each re-parameterized convolution of a checkpoint is folded into one,
    ///     which is faster, with the same result up to rounding.
    /// - Throws: ``ModelError`` if the model cannot be run on these shapes, or a run would take far
    ///   longer than that of any real network.
    package func graph(
        shapes: [String: Shape] = [:], compute: ComputePrecision = .float32, folds: Bool = true
    ) throws -> ModelGraph {
        let graph = try anyGraph(shapes: shapes, compute, folds: folds)
        try graph.checkWork()
        return graph
    }

    /// Builds a graph, whose work is not bounded.
    private func anyGraph(
        shapes: [String: Shape], _ compute: ComputePrecision, folds: Bool
    ) throws -> ModelGraph {
        switch source {
        case .checkpoint(let checkpoint):
            let (source, network) =
                try folds
                ? checkpoint.madeForInference() : (checkpoint, checkpoint.network.make())
            return try graph(of: network, source.variables, shapes)
        case .package(let package):
            return try graph(of: package, shapes, compute.rounding)
        case .network(let network):
            return try graph(of: network, shapes)
        }
    }

    private func graph(of network: GraphNetwork, _ shapes: [String: Shape]) throws -> ModelGraph {
        var interface = network.interface
        let inputs = try interface.inputs.map { input in
            guard let shape = shapes[input.name] ?? input.shapes.standardShape else {
                throw ModelError(.size, name, "leaves the shape of input \(input.name) open")
            }
            return (name: input.name, shape: shape)
        }
        let graph = Graph(mode: .inference)
        let values = inputs.map { ($0.name, graph.input($0.name, $0.shape)) }
        let outputs = try naming(name) { try network.build(in: graph, inputs: values) }
        try readable { try graph.validate() }
        for (index, output) in outputs.enumerated() {
            interface.outputs[index].shapes = .init(output.value.shape.dimensions)
        }
        return ModelGraph(
            model: self, graph: graph, inputs: inputs, outputs: outputs,
            variables: network.variables, interface: interface, lightnessScale: 1,
            values: graph.tracedValues(for: outputs.map(\.value)))
    }

    private func graph(
        of network: any ColorizerNetwork, _ variables: [String: any TensorSource],
        _ shapes: [String: Shape]
    ) throws -> ModelGraph {
        let interface = ModelInterface(of: network)
        let (input, output) = (interface.inputs[0], interface.outputs[0].name)
        let shape = shapes[input.name] ?? input.shapes.standardShape ?? []
        try check(shape, network)
        let graph = Graph(mode: .inference)
        graph.inputRounding = try InputRounding(ofVariables: variables)
        let ab = network(graph.input(input.name, shape))
        do {
            try graph.validate()
        } catch {
            throw ModelError(.notRunnable, name, "cannot be run: \(error)")
        }
        return ModelGraph(
            model: self, graph: graph, inputs: [(input.name, shape)], outputs: [(output, ab)],
            variables: variables, interface: interface, lightnessScale: 1,
            values: graph.tracedValues(for: [ab]))
    }

    private func check(_ shape: Shape, _ network: any ColorizerNetwork) throws(ModelError) {
        guard shape.rank == 4 else { return }
        let multiple = network.requiredMultiple
        if let size = network.onlySize, size != Pair(shape[2], shape[3]) {
            throw ModelError(
                .size, name,
                "the network does not run at \(shape[3]) × \(shape[2]), only at \(size.width) × "
                    + "\(size.height)")
        }
        guard !(shape[2].isMultiple(of: multiple) && shape[3].isMultiple(of: multiple))
        else { return }
        throw ModelError(
            .size, name,
            "the network does not run at \(shape[3]) × \(shape[2]); "
                + "use a size that is a multiple of \(multiple)")
    }

    private func graph(
        of package: MLPackage, _ shapes: [String: Shape], _ rounding: ResultRounding
    ) throws -> ModelGraph {
        try readable {
            let raised: RaisedPackage
            do {
                raised = try RaisedPackage(package, inputShapes: shapes, rounding: rounding)
            } catch let error as ConversionError where error.remedy == ConversionError.damaged {
                throw wrongSize(of: package, shapes) ?? error
            }
            let model = raised.model
            return ModelGraph(
                model: self, graph: model.graph, inputs: model.inputs, outputs: model.outputs,
                variables: model.variables, interface: raised.interface,
                lightnessScale: raised.lightnessScale, values: model.tracedValues,
                named: model.values)
        }
    }

    /// The error for sizes of images that a package states, and its network does not take: networks
    /// with several resolutions need multiples of a number, which packages cannot state.
    ///
    /// - Returns: nil if no size like these helps.
    private func wrongSize(of package: MLPackage, _ shapes: [String: Shape]) -> ModelError? {
        for multiple in [2, 4, 8, 16, 32, 64] {
            let others = shapes.mapValues { shape -> Shape in
                guard shape.rank == 4 else { return shape }
                var other = shape
                for axis in 2...3 { other[axis] = max(shape[axis] / multiple, 1) * multiple }
                return other
            }
            guard let (name, shape) = shapes.first(where: { others[$0.key] != $0.value }),
                let other = others[name],
                (try? RaisedPackage(package, inputShapes: others)) != nil
            else { continue }
            return ModelError(
                .size, self.name,
                "the network does not run at \(shape[3]) × \(shape[2]); use a size that is a "
                    + "multiple of \(multiple), such as \(other[3]) × \(other[2])")
        }
        return nil
    }

    /// - Throws: ``ModelError`` if `body` finds that the package cannot be run.
    func readable<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as ConversionError {
            error.file = ""
            throw ModelError(.notRunnable, name, "\(error)")
        } catch let error as GraphError {
            throw ModelError(.notRunnable, name, "cannot be run: \(error)")
        }
    }
}

extension ModelGraph {
    /// - Throws: ``ModelError`` if the model is not a colorizer, or returns colors of another size
    ///   than its input.
    package func checkIsColorizer() throws(ModelError) {
        guard interface.isColorizer else {
            let inputs = inputs.map { "\($0.name) \($0.shape)" }.joined(separator: ", ")
            let outputs = outputs.map { "\($0.name) \($0.value.shape)" }.joined(separator: ", ")
            throw ModelError(
                .notAColorizer, model.name,
                "takes \(inputs) and returns \(outputs); a colorizer takes one channel and returns "
                    + "two, in one output or two")
        }
        let input = inputs[0].shape
        for output in outputs {
            let shape = output.value.shape
            guard [shape[0], shape[2], shape[3]] != [input[0], input[2], input[3]] else { continue }
            throw ModelError(
                .outputSize, model.name,
                "has colors of \(shape[3]) × \(shape[2]) (output \(output.name), shape \(shape)) "
                    + "for lightness of \(input[3]) × \(input[2]) (shape \(input)); resize the "
                    + "colors to the input's size inside the network")
        }
    }

    /// The same graph with other outputs.
    package func replacingOutputs(with outputs: [(name: String, value: Tensor)]) -> ModelGraph {
        ModelGraph(
            model: model, graph: graph, inputs: inputs, outputs: outputs, variables: variables,
            interface: interface, lightnessScale: lightnessScale, values: values, named: named)
    }

    /// The graph of a package with these values to observe, and no others.
    ///
    /// - Parameter names: names in the package's program, of values that are not constants.
    package func observing(_ names: [String]) -> ModelGraph {
        var result = self
        result.values = names.compactMap { name in
            named[name].map {
                TracedValue(
                    description: ComputedValue(
                        name: name, operation: $0.operation.name, module: "", node: nil,
                        shape: $0.shape, inputs: []),
                    tensor: $0)
            }
        }
        return result
    }
}

extension ComputePrecision {
    fileprivate var rounding: ResultRounding {
        switch self {
        case .float32: .none
        case .float16: .every
        case .mixed: .declared
        }
    }
}
