import ArgumentParser
import Retint

struct ColorizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "colorize",
        abstract: "Colorize photos.",
        discussion: """
            Each photo keeps its name, its size and its lightness. A photo that cannot be read is \
            reported, and the others are still colored. As many photos as there are threads are \
            colored at the same time. Ctrl-C finishes the photos in work and exits with 130; with \
            --skip-existing the same command goes on from there. Started by mpirun or srun, all \
            ranks share out the photos; the results are listed at the end.
            """)

    @Argument(help: "A checkpoint or a package.", completion: .model)
    var model: String

    @Argument(
        help: "The photos (JPEG, PNG or WebP), and folders whose photos are colored.",
        completion: .photo)
    var photos: [String]

    @Option(
        name: .shortAndLong, help: "The directory to write to; created if needed.",
        completion: .directory)
    var output: String

    @Flag(help: "Also color the photos in subfolders of the folders; the output has the same ones.")
    var recursive = false

    @Flag(help: "Leave out photos whose colored copy is in the output directory.")
    var skipExisting = false

    @Option(help: "The side of the square at which the network sees a photo, in pixels.")
    var size: Int?

    @OptionGroup var fitting: FittingOptions
    @OptionGroup var place: MaskOptions

    @OptionGroup var picture: PictureOptions

    @Option(help: "The format to write; if not given, JPEG for JPEG photos and PNG for others.")
    var format: PhotoFileOptions.Format?

    @Flag(help: "Also write a strip of each photo: gray, colored, original.")
    var compare = false

    @Option(
        help: """
            With --compare, another model, whose colors the strip shows to the left of this \
            model's.
            """, completion: .model)
    var before: String?

    @Option(
        help: """
            A factor for the colors of these photos, 0 to 4: 1.3 makes a pale network's more \
            vivid. It multiplies the network's own saturation, which `import` sets.
            """)
    var saturation = 1.0

    @Option(
        help: "The number of threads, each of which colors a photo; all processors if not given.")
    var threads: Int?

    @OptionGroup var memory: MemoryOptions

    @OptionGroup var arithmetic: ComputeOptions

    func validate() throws {
        guard (0...4).contains(saturation) else {
            throw ValidationError("--saturation \(saturation): must be from 0 to 4")
        }
        guard compare || before == nil else {
            throw ValidationError("--before has no effect without --compare")
        }
    }

    func run() async throws {
        try check(size, "--size", Model.sideRange)
        try check(threads, "--threads", CompileOptions.threadRange)
        let ranks = try joinRanks()
        let files = try PhotoFile.list(photos, to: output, naming)
        let model = arithmetic.applied(to: try memory.model(contentsOf: model))
        let options = try coloring()
        let display = PhotoDisplay(files.count, ranks)
        do {
            try await Interruption.cancelling {
                try await colorizePhotos(model, files, options, ranks: ranks) {
                    display.add($0, $1)
                }
            }
        } catch is CancellationError {
            try display.finish()
            Console.note("interrupted; \(display.counts); --skip-existing goes on from there")
            throw ExitStatus.interrupted.exit
        }
        try display.finish()
        try ranks.endTogether {
            try display.failures.finish(of: files.count, "photos", "colorized")
        }
    }

    /// How colored copies are named.
    private var naming: PhotoFileOptions {
        var options = PhotoFileOptions()
        (options.format, options.isRecursive, options.hasStrips) = (format, recursive, compare)
        options.excluded = place.mask.map { [$0] } ?? []
        return options
    }

    private func coloring() throws -> PhotoColoringOptions {
        var options = PhotoColoringOptions()
        (options.size, options.threads, options.choices) = (size, threads, KernelFile.read())
        (options.saturation, options.skipsFinished) = (Float(saturation), skipExisting)
        options.fitting = fitting.fitting
        options.before = try before.map { try memory.model(contentsOf: $0) }
        (options.masks, options.blend) = (try place.masks(), Float(place.blend))
        options.quadrilateral = try picture.quadrilateral
        return options
    }
}

extension PhotoFileOptions.Format: ExpressibleByArgument {}
