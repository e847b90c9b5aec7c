import ArgumentParser
import Retint

struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare models by size, speed and quality.",
        discussion: """
            Prints Markdown tables. Sizes are those of the packages of a checkpoint or an ONNX \
            file with float16 and int8 weights, or of the package itself. Times are for one \
            image, compared with ECCV16 in alternating runs. With --photos, the colors are \
            measured on photos as in retint evaluate; without, the models need not be colorizers. \
            Run it on an idle machine: other work slows the models, and not all of them equally.

            For example:
              retint compare lite-class-unet lite-class-unet-small --photos photos
              retint compare before.h5 after.h5 --photos photos --html changes.html
            """)

    @Argument(
        help: "Checkpoints, packages and ONNX files.", completion: .model,
        transform: modelPath)
    var models: [String]

    @Option(
        name: [.customLong("photos"), .long],
        help: """
            A directory of photos with its subdirectories, a list of photos (.txt) or a packed \
            dataset (.h5).
            """, completion: .photos)
    var data: String?

    @OptionGroup var featureOptions: FeatureOptions

    @Option(
        help: """
            The side of the networks' square input, in pixels; default: for colorizers that of \
            the first that takes only one, else 256; for others the model's own.
            """)
    var size: Int?

    @Option(help: "How often each model is timed next to ECCV16.")
    var rounds = 5

    @Option(help: "The number of threads; default: all processors.")
    var threads: Int?

    @OptionGroup var memory: MemoryOptions

    @Flag(help: "Print one JSON object, with the values of each photo.")
    var json = false

    @Option(
        help: ArgumentHelp(
            """
            Also write a page with those of --photos that lost and gained most from the first \
            model to the last, each colored by all models.
            """, valueName: "file"), completion: .page)
    var html: String?

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        try checkName(html, "--html", "html", "htm")
        guard html == nil || models.count > 1 else {
            throw ValidationError("--html shows photos of two models; name another model")
        }
        guard html == nil || data != nil else {
            throw ValidationError("--html shows photos; name them with --photos")
        }
        guard featureOptions.features == nil || data != nil else {
            throw ValidationError("--features compares photos; name photos with --photos")
        }
    }

    func run() async throws {
        try check(size, "--size", Model.sideRange)
        try check(rounds, "--rounds", BenchmarkOptions.runRange)
        let execution = try memory.execution(threads: threads)
        let models = try models.map {
            try Model(
                contentsOf: $0, form: data == nil ? .file : .colorizer, execution: execution)
        }
        try checkAreColorizers(models)
        let photos = try data.map(photoReferences) ?? []
        let inputs = self.models + [data].compactMap(\.self) + Photos.files(photos)
        let claim = try html.map { try OutputClaim($0, inputs: inputs) }
        defer { claim?.end() }
        let features = try featureOptions.network()
        if let data { Photos.noteSubfolders(photos, of: data) }
        let display = ComparisonDisplay()
        let comparison = try await ModelComparison(
            of: models, size: size, rounds: rounds, photos: photos, features: features,
            onProgress: display.show)
        try html.map { try ComparisonPage(comparison, models, photos).write(to: $0) }
        if json {
            try Console.printJSON(comparison)
        } else {
            for line in ComparisonTables(comparison).lines { Console.print(line) }
        }
        if let quality = comparison.models.first?.quality { Photos.warn(ofGray: quality, in: data) }
        try display.finish(of: photos.count)
    }

    /// Before anything is timed.
    private func checkAreColorizers(_ models: [Model]) throws {
        guard data != nil else { return }
        for model in models where try !model.interface.isColorizer {
            throw CommandError(
                .usage,
                "\(model.name): is not a colorizer; others are compared without --photos")
        }
    }
}
