import ArgumentParser
import Retint

struct ColorizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "colorize",
        abstract: "Colorize photos.",
        discussion: """
            Each photo keeps its name, size and lightness. A photo that cannot be read is \
            reported, and the others are still colored. Each thread colors one photo at a time. \
            Ctrl-C finishes the photos in progress and exits with 130; to continue, run the same \
            command with --skip-existing. When started by mpirun or srun, all ranks split the \
            photos; the results are listed at the end.

            For example:
              retint colorize photo.jpg -o colored.jpg
              retint colorize best.h5 photos -o colored --compare
            """)

    @Argument(
        help: """
            A checkpoint or a package. If this is a photo or a folder of photos, the model is \
            \(ShippedCheckpoint.standard).
            """, completion: .model)
    var model: String

    @Argument(
        help: "The photos, and folders whose photos are colored.",
        completion: .photo)
    var photos: [String] = []

    @Option(
        name: .shortAndLong,
        help: """
            The directory to write to, created if needed; or for one photo the file, if the name \
            ends in .jpg, .jpeg or .png.
            """, completion: .directory)
    var output: String

    @Flag(help: "Also color photos in subfolders; the output has the same subfolders.")
    var recursive = false

    @Flag(help: "Skip photos whose colored copy is already in the output directory.")
    var skipExisting = false

    @Option(help: "The side of the network's square input, in pixels.")
    var size: Int?

    @OptionGroup var fitting: FittingOptions
    @OptionGroup var place: MaskOptions

    @OptionGroup var picture: PictureOptions

    @Option(help: "The format to write; if not given, JPEG for JPEG photos and PNG for others.")
    var format: PhotoFile.ListOptions.Format?

    @Flag(help: "Also write a strip for each photo: gray, colored, original.")
    var compare = false

    @Option(
        help: """
            With --compare, another model; the strip shows its colors to the left of this model's.
            """, completion: .model, transform: modelPath)
    var before: String?

    @Option(
        help: "The number of threads, each of which colors one photo; default: all processors.")
    var threads: Int?

    @OptionGroup var saturation: SaturationOptions

    @OptionGroup var style: StyleOptions

    @OptionGroup var execution: ExecutionOptions

    @OptionGroup var helpOptions: HelpOptions

    mutating func validate() throws {
        guard !photos.isEmpty || ShippedCheckpoint.path(of: model) == model else {
            throw ValidationError("\(model) is a colorizer; name the photos, too")
        }
        if photos.isEmpty || PhotoFile.isPhotos(model) {
            photos.insert(model, at: 0)
            try checkModelComesFirst(photos, "colorize")
            model = ShippedCheckpoint.standard
        }
        model = try modelPath(model)
        guard compare || before == nil else {
            throw ValidationError("--before has no effect without --compare")
        }
    }

    func run() async throws {
        try check(size, "--size", Model.sideRange)
        let execution = try execution.value(threads: threads)
        let ranks = try joinRanks()
        if ranks.rank == 0 { try warnOfLeftOut() }
        let files = try PhotoFile.list(
            photos, to: output, naming, leavingOut: Photos.warn(ofName:))
        let model = try Model(contentsOf: model, execution: execution).inStyle(style.style)
        self.execution.note()
        if ranks.rank == 0 { warnOfRange(of: model) }
        let options = try coloring()
        let display = PhotoDisplay(files.count, ranks)
        do {
            try await Interruption.cancelling {
                try await model.colorize(files, options, ranks: ranks) {
                    display.add($0, $1)
                }
            }
        } catch is CancellationError {
            try display.finish()
            Console.note("interrupted; \(display.counts); --skip-existing continues from there")
            throw ExitStatus.interrupted.exit
        }
        try display.finish()
        try ranks.endTogether {
            try display.failures.finish(of: files.count, "photos", "colorized")
        }
    }

    private func warnOfLeftOut() throws {
        let deeper =
            recursive ? 0 : try PhotoFile.countInSubfolders(photos, except: output)
        if deeper > 0 {
            let photos = Format.counted(deeper, "photo")
            Console.warn("\(photos) in subfolders left out; --recursive includes subfolders")
        }
        let leftOut = try PhotoFile.leftOut(photos, isRecursive: recursive)
        guard !leftOut.isEmpty else { return }
        let counts = leftOut.sorted { $0.key < $1.key }.map { "\($0.value) .\($0.key)" }
        Console.warn(
            "\(counts.joined(separator: ", ")) left out; \(ImageFormat.readable) files are read")
    }

    /// How colored copies are named.
    private var naming: PhotoFile.ListOptions {
        var options = PhotoFile.ListOptions()
        (options.format, options.isRecursive, options.hasStrips) = (format, recursive, compare)
        options.keepsCopies = skipExisting
        options.excluded = place.mask.map { [$0] } ?? []
        return options
    }

    private func coloring() throws -> PhotoColoringOptions {
        var options = PhotoColoringOptions()
        options.size = size
        (options.saturation, options.skipsFinished) = (saturation.factor, skipExisting)
        options.fitting = fitting.fitting
        options.before = try before.map {
            try Model(contentsOf: $0, execution: execution.memory.execution(threads: threads))
        }
        (options.masks, options.blend) = (try place.masks(), Float(place.blend))
        options.quadrilateral = try picture.quadrilateral
        return options
    }
}
