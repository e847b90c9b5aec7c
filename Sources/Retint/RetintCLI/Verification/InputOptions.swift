import ArgumentParser
import Retint

/// The inputs on which two models are compared.
struct InputOptions: ParsableArguments {
    @Option(
        name: .customLong("photo"),
        help: ArgumentHelp(
            "A photo to compare on instead of random values; repeatable.",
            valueName: "file"), completion: .photo)
    var files: [String] = []

    @Option(
        name: .customLong("photos"),
        help: ArgumentHelp(
            "A folder or a list (.txt) of photos to compare on; repeatable.", valueName: "photos"),
        completion: .photos)
    var directories: [String] = []

    @Option(
        name: .customLong("inputs"),
        help: ArgumentHelp(
            """
            A file with the model's inputs, or a folder of such files, a run each; repeatable. \
            HDF5, safetensors, PyTorch and .npz files have them by name; a .npy file has the only \
            input.
            """, valueName: "file"), completion: .file())
    var inputFiles: [String] = []

    @OptionGroup var photoRange: PhotoRangeOption

    @Option(
        help: .rare(
            """
            The range of a network's results where the other model returns an image, whose pixels \
            are 0 to 255: A..B, such as 0..1; default: 0..255.
            """, valueName: "range"))
    var outputRange: ValueRange?

    @Option(
        help: """
            The size of images, as a number or WIDTHxHEIGHT; default: that of the model.
            """)
    var size: ExportOptions.Size?

    @Option(
        help: .rare(
            """
            The distribution of an input's random values: [NAME=]uniform:A..B, \
            [NAME=]natural:A..B, with the spectrum of photos, [NAME=]normal:MEAN,DEVIATION or \
            [NAME=]integers:A..B; repeatable. Default: natural:0..100 for lightness, \
            integers:0..255 for images, natural:0..1 for photos in tensors that are known to be \
            such, normal:0,1 for other floats, integers:0..1 for integers.
            """, valueName: "noise"))
    var noise: [NamedNoise] = []

    @Option(help: .rare("The seed of the random values; default: 0."))
    var seed: UInt64?

    var isGiven: Bool {
        !inputFiles.isEmpty || isGenerated || range != nil || outputRange != nil
    }

    /// Whether there is a seed, and nothing else.
    var isOnlySeed: Bool {
        var others = self
        others.seed = nil
        return seed != nil && !others.isGiven
    }

    /// Whether photos are given.
    var takesPhotos: Bool { !files.isEmpty || !directories.isEmpty }

    /// The range in which a network takes photos.
    var range: ValueRange? { photoRange.range }

    /// Whether there is an option for photos or random values.
    private var isGenerated: Bool {
        !files.isEmpty || !directories.isEmpty || size != nil || !noise.isEmpty || seed != nil
    }

    func validate() throws {
        guard outputRange != .imageNet else {
            throw ValidationError("--output-range is A..B; imagenet is a range of inputs")
        }
        let sides = Model.sideRange
        for side in size.map({ [$0.width, $0.height] }) ?? [] where !sides.contains(side) {
            throw ValidationError(
                "--size \(side): must be from \(sides.lowerBound) to \(sides.upperBound)")
        }
        guard inputFiles.isEmpty || !isGenerated else {
            throw ValidationError(
                "--inputs has the values of all inputs; omit --photo, --photos, --size, --noise "
                    + "and --seed")
        }
    }

    /// All files that are read.
    ///
    /// - Throws: `FileError` if a folder cannot be read, ``CommandError`` if it has no photos.
    var paths: [String] {
        get throws {
            try files + inputFiles + directories.flatMap { try photoFiles(in: $0) }
        }
    }

    /// Batches of photos as a model takes them, or of random values without photos. Inputs that
    /// take no photos have random values.
    ///
    /// - Parameters:
    ///   - interface: the model's.
    ///   - shapes: the shapes of its inputs.
    ///   - model: its name, for errors.
    /// - Throws: ``CommandError`` if a photo cannot be passed, the photos do not fill the batches,
    ///   or an option names an input that the model does not have.
    func inputs(
        of interface: ModelInterface, shapes: @autoclosure () throws -> [Shape], model: String
    ) throws -> VerificationInputs {
        guard inputFiles.isEmpty else {
            return try VerificationInputs(files: inputFiles, for: interface)
        }
        let (paths, shapes) = (try paths, try shapes())
        let random = VerificationInputs.noise(
            for: interface, shapes: shapes, noise: try noise(of: interface, model),
            seed: seed ?? 0)
        guard !paths.isEmpty else { return random }
        let photos = try PhotoInputs(
            for: interface, shapes: shapes, model: model, range: photoRange.range,
            random: random)
        let batches = try photos.batches(paths)
        return VerificationInputs(count: batches.count) { index in
            VerificationInputs.Input(
                labels: batches[index], tensors: try photos.tensors(batches[index]))
        }
    }

    /// The distribution of an input; nil for the usual one.
    func noise(named name: String) -> InputNoise? {
        noise.last { $0.input == name }?.noise ?? noise.last { $0.input == nil }?.noise
    }

    private func noise(
        of interface: ModelInterface, _ model: String
    ) throws -> [String: InputNoise] {
        var noises: [String: InputNoise] = [:]
        for named in noise.filter({ $0.input == nil }) {
            for input in interface.inputs { noises[input.name] = named.noise }
        }
        for named in noise {
            guard let name = named.input else { continue }
            guard interface.inputs.contains(where: { $0.name == name }) else {
                let names = interface.inputs.map(\.name).joined(separator: ", ")
                throw CommandError(
                    .usage, "--noise: \(model) has no input \(name); its inputs are \(names)")
            }
            noises[name] = named.noise
        }
        return noises
    }
}

/// An argument of the form `[NAME=]DISTRIBUTION`.
struct NamedNoise: ExpressibleByArgument {
    /// The input; nil for all.
    let input: String?
    let noise: InputNoise

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard let noise = parts.last.flatMap({ InputNoise($0) }) else { return nil }
        self.noise = noise
        input = parts.count == 2 ? parts[0] : nil
    }
}
