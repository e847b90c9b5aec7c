import RetintArchitectures
import RetintEngine
import RetintExport
import RetintGraph
import RetintTensors

/// A model compiled for inputs of given shapes.
///
/// A program must be used by one thread at a time.
package final class ModelProgram {
    package let model: Model
    package let program: Program
    package let inputs: [(name: String, shape: Shape)]
    /// The names of the outputs, in the model's order.
    package let outputs: [String]
    /// The observed values, in the order of computation; empty unless the program was compiled to
    /// observe them.
    package let values: [ComputedValue]
    /// The operation of the graph that computes each of the ``values``: the same, whatever format
    /// the model comes from.
    package let operations: [String]
    /// The indices of the outputs among ``values``; nil for an output that is an input.
    package let outputIndices: [Int?]
    private let interface: ModelInterface
    /// The factor that lightness in 0…100 is multiplied by.
    private let lightnessScale: Float

    /// Compiles a graph.
    ///
    /// - Parameters:
    ///   - observes: whether a run exposes all intermediate values, see ``start(_:)``.
    ///   - options: instead of those that the model's ``Model/execution`` gives.
    package init(
        _ graph: ModelGraph, observes: Bool = false, options: CompileOptions? = nil
    ) throws {
        let traced = observes ? graph.values : []
        (model, inputs) = (graph.model, graph.inputs)
        (interface, lightnessScale) = (graph.interface, graph.lightnessScale)
        outputs = graph.outputs.map(\.name)
        values = traced.map(\.description)
        operations = traced.map { $0.tensor.graph.computingOperation(of: $0.tensor.id) }
        outputIndices = graph.outputs.map { output in
            traced.firstIndex { $0.tensor.id == output.value.id }
        }
        do throws(GraphError) {
            program = try Program(
                outputs: graph.outputs, observing: traced.map(\.tensor),
                options: (options ?? graph.model.execution.compileOptions).limited(for: graph))
        } catch {
            throw ModelError(.notRunnable, graph.model.name, error)
        }
        do {
            // What depends on constants alone is computed now.
            try program.load(graph.variables)
        } catch let error as GraphError {
            throw ModelError(.notRunnable, graph.model.name, error)
        }
    }

    /// The shape of the first input: [N, 1, H, W] for a colorizer.
    package var inputShape: Shape { inputs[0].shape }

    /// Replaces weights by name; the others keep their values.
    package func load(_ variables: [String: any TensorSource]) throws {
        try program.load(variables)
    }

    /// Begins a run that returns the observed values one by one.
    ///
    /// - Parameter inputs: see ``Model/program(on:compute:)``. Lightness is scaled for a model that
    ///   takes an image, but not rounded to whole levels, so that only the model is compared.
    /// - Throws: ``ModelError`` if the inputs are not those of the model; `CancellationError` if
    ///   the current task is cancelled.
    package func start(_ inputs: [NamedTensor]) throws -> ObservedRun {
        try Task.checkCancellation()
        return try program.start(scaled(inputs))
    }

    /// The program's inputs, with lightness as the graph takes it.
    private func scaled(_ inputs: [NamedTensor]) throws(ModelError) -> [String: TensorData] {
        try inputs.matched(to: self.inputs.map(\.name), of: model.name)
            .mapValues { $0.scaled(by: lightnessScale) }
    }

    /// The outputs by name.
    ///
    /// - Parameter inputs: see ``start(_:)``.
    /// - Throws: ``ModelError`` if the inputs are not those of the model; `CancellationError`
    ///   between two steps if the current task is cancelled.
    package func outputs(of inputs: [NamedTensor]) throws -> [String: TensorData] {
        try program.run(scaled(inputs)) { Task.isCancelled }
    }

    /// The outputs in the model's order.
    ///
    /// - Parameter inputs: see ``start(_:)``.
    /// - Throws: ``ModelError`` if the inputs are not those of the model, or an output is not
    ///   finite.
    package func finiteOutputs(of inputs: [NamedTensor]) throws -> [NamedTensor] {
        let outputs = named(try self.outputs(of: inputs))
        for output in outputs {
            guard let found = NonFinite(in: output.data) else { continue }
            throw ModelError(
                .nonFinite, model.name,
                "output \(output.name) is not finite: \(found.text). Verify the model on this "
                    + "input: the report names the operation where they first appear")
        }
        return outputs
    }

    /// A run's outputs in the model's order.
    package func named(_ results: [String: TensorData]) -> [NamedTensor] {
        outputs.compactMap { name in results[name].map { NamedTensor(name, $0) } }
    }

    /// Whether the model takes lightness and returns colors.
    package var isColorizer: Bool { interface.isColorizer }

    /// Inputs in the format of the model. Scaling lightness to pixels and back rounds it in
    /// float32; a model that this one is compared with must get the same values.
    package func roundTripped(_ inputs: [NamedTensor]) -> [NamedTensor] {
        guard lightnessScale != 1 else { return inputs }
        return inputs.map { input in
            NamedTensor(
                input.name,
                input.data.scaled(by: lightnessScale).scaled(by: LabScaling.lightnessPerPixel))
        }
    }
}

// MARK: Colors

extension ModelProgram {
    /// The program's inputs for lightness as an application passes it: rounded to whole levels for
    /// a model that takes an image.
    ///
    /// - Parameter lightness: L in 0…100, N·H·W values, image after image.
    package func inputs(lightness: [Float]) -> [String: TensorData] {
        let scaled = TensorData(shape: inputShape, scalars: lightness).scaled(by: lightnessScale)
        guard lightnessScale != 1 else { return [inputs[0].name: scaled] }
        let levels = scaled.scalars.map { min(max($0.rounded(), 0), 255) }
        return [inputs[0].name: TensorData(shape: inputShape, scalars: levels)]
    }

    /// Estimates colors.
    ///
    /// - Parameter lightness: L in 0…100, N·H·W values, image after image.
    /// - Returns: a and b, [N, 2, H, W].
    /// - Throws: ``ModelError`` if the colors are not finite.
    package func predict(lightness: [Float]) throws(ModelError) -> TensorData {
        try estimate(lightness: lightness).ab
    }

    /// Estimates colors, and the network's confidence in them.
    ///
    /// - Parameter lightness: L in 0…100, N·H·W values, image after image.
    /// - Throws: ``ModelError`` if the colors are not finite.
    package func estimate(lightness: [Float]) throws(ModelError) -> ColorEstimate {
        try estimate(of: inputs(lightness: lightness))
    }

    /// Estimates colors; stops between two steps of the network if requested.
    ///
    /// - Parameters:
    ///   - lightness: L in 0…100, N·H·W values, image after image.
    ///   - isCancelled: called before each step.
    /// - Throws: ``ModelError`` if the colors are not finite; `CancellationError`.
    package func estimate(
        lightness: [Float], isCancelled: () -> Bool
    ) throws -> ColorEstimate {
        do {
            return try estimate(
                program.run(inputs(lightness: lightness), isCancelled: isCancelled))
        } catch let error as GraphError {
            throw ModelError(.inputs, model.name, error)
        }
    }

    private func estimate(of inputs: [String: TensorData]) throws(ModelError) -> ColorEstimate {
        let results: [String: TensorData]
        do {
            results = try program.run(inputs)
        } catch {
            throw ModelError(.inputs, model.name, error)
        }
        return try estimate(results)
    }

    private func estimate(_ results: [String: TensorData]) throws(ModelError) -> ColorEstimate {
        guard let colors = interface.colors(results) else {
            throw ModelError(.notAColorizer, model.name, "does not return colors")
        }
        if let found = NonFinite(in: colors) {
            throw ModelError(
                .nonFinite, model.name,
                "colors are not finite: \(found.text). Verify the model on this photo: "
                    + "the report names the operation where they first appear")
        }
        return ColorEstimate(ab: colors, certainty: results[ModelGraph.confidenceName])
    }
}

/// The colors that a network estimates.
package struct ColorEstimate: Sendable {
    /// a and b, [N, 2, H, W].
    package let ab: TensorData
    /// The sum of the squared probabilities of the colors, [N, 1, h, w]; nil if the network has no
    /// distribution, or the program was compiled without it.
    package let certainty: TensorData?

    /// The estimate with a and b times a factor.
    package func saturated(by factor: Float) -> ColorEstimate {
        ColorEstimate(ab: ab.scaled(by: factor), certainty: certainty)
    }
}

extension TensorData {
    /// The value times a factor.
    func scaled(by factor: Float) -> TensorData {
        factor == 1 ? self : TensorData(shape: shape, scalars: scalars.map { $0 * factor })
    }
}

extension Graph {
    /// The name of the operation that computes a node, before it is rounded to half precision.
    fileprivate func computingOperation(of node: Int) -> String {
        var node = nodes[node]
        while node.operation is RoundToHalf { node = nodes[node.inputs[0]] }
        return node.operation.name
    }
}
