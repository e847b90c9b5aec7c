import ArgumentParser
import Retint

/// Photos as a model takes them. Inputs that take no photos have random values.
struct PhotoInputs {
    private let interface: ModelInterface
    private let shapes: [Shape]
    private let range: ValueRange
    /// The values of the inputs that take no photos.
    private let others: [NamedTensor]
    /// The number of photos that the model takes at a time.
    let batch: Int

    /// - Parameters:
    ///   - interface: the model's.
    ///   - shapes: the shapes of its inputs.
    ///   - model: its name, for errors.
    ///   - range: that of photos in a tensor that is neither lightness nor an image.
    ///   - random: random values of all inputs.
    /// - Throws: ``CommandError`` if no input takes photos.
    init(
        for interface: ModelInterface, shapes: [Shape], model: String, range: ValueRange?,
        random: VerificationInputs? = nil
    ) throws {
        guard let first = interface.inputs.firstIndex(where: \.takesPhotos) else {
            throw CommandError(
                .usage,
                "\(model): has no input for photos: none has the shape [N, 1, H, W] or "
                    + "[N, 3, H, W]")
        }
        (self.interface, self.shapes, self.range) = (interface, shapes, range ?? .unit)
        batch = shapes[first][0]
        for index in interface.inputs.indices where interface.inputs[index].takesPhotos {
            guard shapes[index][0] != batch else { continue }
            throw CommandError(
                .usage,
                "\(model): the inputs \(interface.inputs[first].name) and "
                    + "\(interface.inputs[index].name) take \(batch) and \(shapes[index][0]) "
                    + "photos; give their values in a file, with retint verify --inputs")
        }
        let random = random ?? .noise(for: interface, shapes: shapes)
        others = interface.inputs.allSatisfy(\.takesPhotos) ? [] : try random.input(0).tensors
    }

    /// - Throws: ``CommandError`` if the photos do not fill the batches.
    func batches(_ paths: [String]) throws -> [[String]] {
        guard paths.count.isMultiple(of: batch) else {
            throw CommandError(
                .usage,
                "the model takes \(batch) photos at a time, but there are \(paths.count); give a "
                    + "multiple of \(batch)")
        }
        return stride(from: 0, to: paths.count, by: batch).map {
            Array(paths[$0..<$0 + batch])
        }
    }

    /// The inputs for one batch of photos.
    func tensors(_ paths: [String]) throws -> [NamedTensor] {
        let photos = try paths.map { try Image(contentsOf: $0) }
        return interface.inputs.indices.map { index in
            let (input, shape) = (interface.inputs[index], shapes[index])
            guard input.takesPhotos else { return others[index] }
            let scalars = photos.flatMap {
                $0.tensor(for: input, height: shape[2], width: shape[3], range: range).scalars
            }
            return NamedTensor(input.name, TensorData(shape: shape, scalars: scalars))
        }
    }
}

/// The range of photos.
struct PhotoRangeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The range in which a network takes photos: in an input that is a tensor, neither \
            lightness nor an image; or what the pixels of an image become, if it is compared with \
            a network that takes a tensor. A..B, such as 0..255 or -1..1, or imagenet; default: \
            0..1 for photos in a tensor.
            """, valueName: "range"))
    var range: ValueRange?
}

extension ValueRange: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
