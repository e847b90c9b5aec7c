import RetintEngine
public import RetintExport
import RetintGraph
import RetintTensors

extension Model {
    /// Compiles the model to color images of one size.
    ///
    /// - Parameters:
    ///   - batch: the number of images that are colored at once.
    ///   - height: the height in pixels; nil for the model's own.
    ///   - width: the width in pixels; nil for the model's own.
    ///   - estimatesConfidence: whether ``ModelProgram/estimate(lightness:)`` also returns the
    ///     network's confidence, which takes time.
    ///   - options: instead of those that ``execution`` gives.
    /// - Throws: ``ModelError`` if the model is not a colorizer, does not run at that size, or
    ///   returns colors of another size.
    package func program(
        batch: Int = 1, height: Int? = nil, width: Int? = nil, estimatesConfidence: Bool = false,
        options: CompileOptions? = nil
    ) throws -> ModelProgram {
        let own = try lightnessInput()
        let (height, width) = (height ?? own.shape[2], width ?? own.shape[3])
        try checkSide(height)
        try checkSide(width)
        guard batch > 0 else {
            throw ModelError(.size, name, "cannot run on \(batch) images")
        }
        let graph = try graph(for: [batch, 1, height, width], of: own)
        let extended = estimatesConfidence ? graph.addingConfidence() : nil
        return try compiled(extended ?? graph, options)
    }

    /// Compiles any model for inputs of given shapes.
    ///
    /// - Parameters:
    ///   - shapes: the shapes of inputs by name; the model's own for an input that is not named.
    ///   - options: instead of those that ``execution`` gives.
    /// - Throws: ``ModelError`` if the model cannot be run on these shapes.
    package func program(
        shapes: [String: Shape], options: CompileOptions? = nil
    ) throws -> ModelProgram {
        try compiled(graph(shapes: shapes), options)
    }

    private func compiled(
        _ graph: ModelGraph, _ options: CompileOptions?
    ) throws -> ModelProgram {
        var options = options ?? execution.compileOptions
        options.releasesWeights = true
        return try ModelProgram(graph, options: options)
    }

    /// The height and width, in pixels, that the model runs at by default: a package's own,
    /// 256 × 256 for a checkpoint.
    ///
    /// - Throws: ``ModelError`` if the model takes an input other than lightness.
    public func preferredSize() throws -> (height: Int, width: Int) {
        let shape = try lightnessInput().shape
        return (shape[2], shape[3])
    }

    /// Height and width must be multiples of this; nil for a package, which runs at the sizes that
    /// it declares, and for a network that takes only one size.
    ///
    /// - Throws: the errors of `NetworkDescription.make()`.
    package var requiredMultiple: Int? {
        get throws {
            guard checkpoint != nil, let input = try interface.inputs.first else { return nil }
            return input.shapes.sideMultiple
        }
    }

    /// The height and width, in pixels, of a square; ``preferredSize()`` without a side.
    ///
    /// - Throws: ``ModelError`` if the model takes an input other than lightness, or the side is
    ///   out of range.
    package func size(ofSide side: Int?) throws -> (height: Int, width: Int) {
        let own = try preferredSize()
        if let side { try checkSide(side) }
        return (side ?? own.height, side ?? own.width)
    }

    /// The shapes of all inputs, in the interface's order.
    ///
    /// - Parameter size: the size of images; nil for that of the model, whose sides are 256 where
    ///   it leaves them open.
    /// - Throws: ``ModelError`` if the size is out of range, or another extent is open.
    public func inputShapes(size: ExportOptions.Size? = nil) throws -> [Shape] {
        for side in size.map({ [$0.width, $0.height] }) ?? [] { try checkSide(side) }
        return try interface.inputShapes(size: size, of: name)
    }

    /// ``inputShapes(size:)`` by the names of the inputs.
    package func inputShapesByName(size: ExportOptions.Size? = nil) throws -> [String: Shape] {
        let pairs = zip(try interface.inputs.map(\.name), try inputShapes(size: size))
        return Dictionary(pairs.map { ($0, $1) }) { first, _ in first }
    }

    /// The allowed sides of images in pixels.
    public static let sideRange = 1...16_384

    private func checkSide(_ side: Int) throws(ModelError) {
        guard Self.sideRange.contains(side) else {
            throw ModelError(
                .size, name,
                "cannot run on images with a side of \(side) pixels: it must be from 1 to "
                    + "\(Self.sideRange.upperBound)")
        }
    }

    /// The graph of a colorizer.
    ///
    /// - Parameter shapes: see ``graph(shapes:compute:folds:)``.
    /// - Throws: ``ModelError`` if the model is not a colorizer, does not run on that shape, or
    ///   returns colors of another size than its input.
    package func colorizerGraph(shapes: [String: Shape] = [:]) throws -> ModelGraph {
        let graph = try graph(shapes: shapes)
        try graph.checkIsColorizer()
        return graph
    }

    /// The graph for an input shape. A package runs at its default size, and at other sizes only if
    /// it declares them.
    private func graph(
        for shape: Shape, of input: (name: String, shape: Shape)
    ) throws -> ModelGraph {
        do {
            return try colorizerGraph(shapes: [input.name: shape])
        } catch let error as ModelError where error.kind == .notRunnable && shape != input.shape {
            // If the model does not run at its own size either, that error is thrown.
            _ = try colorizerGraph()
            throw ModelError(
                .size, name,
                "does not run on lightness of shape \(shape), only on \(input.shape): "
                    + "\(error.problem)")
        }
    }

    /// The graph for inputs of these names and shapes.
    ///
    /// - Parameters: see ``program(on:compute:observes:)`` and ``graph(shapes:compute:folds:)``.
    /// - Throws: ``ModelError`` if the inputs do not match the model, or it cannot be run on them.
    package func graph(
        on inputs: [NamedTensor], compute: ComputePrecision = .float32, folds: Bool = true
    ) throws -> ModelGraph {
        let names = try interface.inputs.map(\.name)
        let shapes = try inputs.matched(to: names, of: name).mapValues(\.shape)
        return try graph(shapes: shapes, compute: compute, folds: folds)
    }

    /// Compiles the model for given inputs.
    ///
    /// - Parameters:
    ///   - inputs: matched by name, or by order if there is one. Lightness is in 0…100 even for a
    ///     model that takes an image.
    ///   - compute: the arithmetic.
    ///   - observes: whether the intermediate values are observable.
    /// - Throws: ``ModelError`` if the inputs do not match the model, or it cannot be run on them.
    package func program(
        on inputs: [NamedTensor], compute: ComputePrecision = .float32, observes: Bool = true
    ) throws -> ModelProgram {
        let graph = try graph(on: inputs, compute: compute, folds: false)
        var options = execution.compileOptions
        options.arithmetic = .float32
        options.roundsToHalf = package == nil && compute == .float16
        return try ModelProgram(graph, observes: observes, options: options)
    }

    /// Runs the model once.
    ///
    /// - Parameter inputs: see ``program(on:compute:observes:)``; a batch is split into batches of
    ///   the size that the model takes.
    /// - Returns: the outputs in the model's order.
    /// - Throws: ``ModelError`` if the inputs do not match the model, or it cannot be run on them.
    package func run(
        _ inputs: [NamedTensor], compute: ComputePrecision = .float32
    ) throws -> [NamedTensor] {
        let batches = inputs.batches(of: try batchSize)
        let program = try program(on: batches[0], compute: compute)
        return try joinedBatches(
            batches.map { batch in
                var run = try program.start(batch)
                return program.named(try run.finish())
            })
    }
}
