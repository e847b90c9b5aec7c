import Checkpoints
import Engine
import Files
import MLPackage
import TensorGraph

/// A colorizer from a file, a checkpoint or a package alike, before it is compiled for a size.
package final class Model {
    /// The path of the file, or the architecture's name.
    package let name: String
    private let source: any ModelSource

    /// Reads a checkpoint or a package.
    ///
    /// - Throws: `FileError` if there is no such file; the errors of checkpoints and packages;
    ///   ``ModelError`` if it is neither, or a package that is no colorizer.
    package init(contentsOf path: String) throws {
        name = path
        if try isDirectory(path) {
            source = try PackageSource(MLPackage(contentsOf: path), name: path)
        } else {
            source = try CheckpointSource(Checkpoint(contentsOf: path), name: path)
        }
    }

    /// A network in memory.
    ///
    /// - Parameter name: what errors call it; its architecture if nil.
    package init(_ checkpoint: Checkpoint, name: String? = nil) throws {
        self.name = name ?? checkpoint.architecture
        source = try CheckpointSource(checkpoint, name: self.name)
    }

    /// Height and width that the network runs at where nothing else is said: a package's own,
    /// 256 × 256 for a checkpoint.
    package var preferredSize: (height: Int, width: Int) { source.preferredSize }

    /// Compiles the network for a size.
    ///
    /// - Throws: ``ModelError`` if the model does not run at that size.
    package func program(
        batch: Int = 1, height: Int? = nil, width: Int? = nil, options: CompileOptions = .init()
    ) throws -> ModelProgram {
        let (height, width) = (height ?? preferredSize.height, width ?? preferredSize.width)
        guard batch > 0, height > 0, width > 0 else {
            throw ModelError(
                .size, name, "cannot run on \(batch) pictures of \(width) × \(height)")
        }
        let shape = Shape([batch, 1, height, width])
        let body = try source.body(for: shape)
        let program = try Program(outputs: body.outputs, options: options)
        try program.load(body.variables)
        return ModelProgram(program: program, interface: body.interface, inputShape: shape)
    }
}

/// Where a model's graph comes from.
protocol ModelSource {
    var preferredSize: (height: Int, width: Int) { get }
    /// The network on lightness of shape [N, 1, H, W].
    func body(for shape: Shape) throws -> ModelBody
}

/// A network for one size: its graph, its weights, and how to feed it.
struct ModelBody {
    let outputs: [(name: String, value: Tensor)]
    let variables: [String: TensorData]
    let interface: ModelInterface
}

/// How lightness goes into a program and color comes out.
struct ModelInterface {
    let input: String
    /// What L (0…100) is multiplied by.
    var lightnessScale: Float = 1
    /// Whether the input is a picture, which holds whole numbers from 0 to 255 alone.
    var roundsInput = false
    /// One output of two channels, or one for a and one for b.
    let outputs: [String]
}

/// A colorizer compiled for a batch and a size.
package final class ModelProgram {
    package let program: Program
    /// [N, 1, H, W].
    package let inputShape: Shape
    private let interface: ModelInterface

    init(program: Program, interface: ModelInterface, inputShape: Shape) {
        self.program = program
        self.interface = interface
        self.inputShape = inputShape
    }

    /// The same program's inputs for a given lightness.
    package func inputs(lightness: [Float]) -> [String: TensorData] {
        var values = lightness
        if interface.lightnessScale != 1 || interface.roundsInput {
            for index in values.indices {
                let scaled = values[index] * interface.lightnessScale
                values[index] = interface.roundsInput ? min(max(scaled.rounded(), 0), 255) : scaled
            }
        }
        return [interface.input: TensorData(shape: inputShape, scalars: values)]
    }

    /// Estimates color.
    ///
    /// - Parameter lightness: L in 0…100, N·H·W values, one picture after the other.
    /// - Returns: a and b for each picture, H·W values each.
    package func predict(lightness: [Float]) throws -> [(a: [Float], b: [Float])] {
        let results = try program.run(inputs(lightness: lightness))
        let area = inputShape[2] * inputShape[3]
        let planes = interface.outputs.map { results[$0]?.scalars ?? [] }
        return (0..<inputShape[0]).map { index in
            if planes.count == 2 {
                let range = index * area..<(index + 1) * area
                return (Array(planes[0][range]), Array(planes[1][range]))
            }
            let start = 2 * index * area
            return (
                Array(planes[0][start..<start + area]),
                Array(planes[0][start + area..<start + 2 * area])
            )
        }
    }
}
