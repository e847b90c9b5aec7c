import RetintExport
import RetintGraph
import RetintRuntime
import RetintTensors

/// A model compiled for measuring its time, and what it is run on: lightness for a colorizer,
/// random values for any other model.
struct SampledProgram {
    let program: ModelProgram
    /// The height and the width of the images that go in; nil if none do.
    let size: Pair?
    private let inputs: [NamedTensor]

    /// - Parameter size: the side of images; nil for the model's own size.
    /// - Throws: `ModelError` if the model does not run at that size.
    init(_ model: Model, size: Int?) throws {
        if try model.interface.isColorizer {
            program = try model.program(height: size, width: size)
            let shape = program.inputShape
            // Any lightness will do: the time does not depend on the values.
            let lightness = TensorData(
                shape: shape, scalars: (0..<shape.count).map { Float($0 % 101) })
            inputs = [NamedTensor(program.inputs[0].name, lightness)]
            self.size = Pair(shape[2], shape[3])
        } else {
            let sample = try ModelSample(model, size: size)
            program = try model.program(shapes: sample.shapes)
            (inputs, self.size) = (sample.inputs, sample.size)
        }
    }

    /// Runs the model once.
    ///
    /// - Throws: `ModelError` if colors are not finite.
    func predict() throws {
        if program.isColorizer {
            _ = try program.predict(lightness: inputs[0].data.scalars)
        } else {
            _ = try program.outputs(of: inputs)
        }
    }
}

/// Values for all inputs of a model.
struct ModelSample {
    let inputs: [NamedTensor]
    /// The height and the width of the images among them; nil if there are none.
    let size: Pair?
    /// The number of images.
    let batch: Int

    var shapes: [String: Shape] {
        Dictionary(inputs.map { ($0.name, $0.data.shape) }) { first, _ in first }
    }

    /// - Parameters:
    ///   - size: the side of images; nil for the model's own size.
    ///   - batch: the number of images; 1 for that of the model.
    /// - Throws: `ModelError` if a size or a batch is given and the model takes no images, or an
    ///   extent is open.
    init(_ model: Model, size: Int?, batch: Int = 1) throws {
        let interface = try model.interface
        var shapes = try model.inputShapes(size: size.map { .init($0) })
        let image = interface.inputs.firstIndex(where: \.takesPhotos)
        if batch > 1 || size != nil, image == nil {
            throw ModelError(
                .size, model.name, "takes no images; measure it without a batch and a size")
        }
        for (index, input) in interface.inputs.enumerated() where input.takesPhotos && batch > 1 {
            shapes[index][0] = batch
        }
        inputs = zip(interface.inputs, shapes).map { input, shape in
            NamedTensor(input.name, input.usualNoise.values(shape, seed: 0, name: input.name))
        }
        self.size = image.map { Pair(shapes[$0][2], shapes[$0][3]) }
        self.batch = image.map { shapes[$0][0] } ?? 1
    }
}
