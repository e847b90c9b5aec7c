import ArgumentParser
import Retint

struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare models by size, speed and quality.",
        discussion: """
            Prints Markdown tables. Sizes are those of a checkpoint's packages with float16 and \
            int8 weights, or of a package as it is. Times are for one image, compared with ECCV16 \
            in alternating runs. With --data, the colors are measured on photos as in retint \
            evaluate. Run it on an idle machine: other work slows the models, and not all of them \
            alike.
            """)

    @Argument(help: "Checkpoints and packages.", completion: .model)
    var models: [String]

    @Option(
        help: """
            A directory of photos with its subdirectories, a list of photos (.txt) or a packed \
            dataset (.h5).
            """, completion: .photos)
    var data: String?

    @OptionGroup var featureOptions: FeatureOptions

    @Option(help: "The side of the square at which the networks see a photo, in pixels.")
    var size = 256

    @Option(help: "How often each model is timed next to ECCV16.")
    var rounds = 5

    @Option(help: "The number of threads; all processors if not given.")
    var threads: Int?

    @OptionGroup var memory: MemoryOptions

    @Flag(help: "Print one JSON object, with the values of each photo.")
    var json = false

    func validate() throws {
        guard featureOptions.features == nil || data != nil else {
            throw ValidationError("--features compares photos; name some with --data")
        }
    }

    func run() async throws {
        try check(size, "--size", Model.sideRange)
        try check(rounds, "--rounds", BenchmarkOptions.runRange)
        try check(threads, "--threads", CompileOptions.threadRange)
        let models = try models.map { try memory.model(contentsOf: $0) }
        let features = try featureOptions.network()
        let photos = try data.map(photoReferences) ?? []
        let display = ComparisonDisplay()
        let comparison = try await compare(
            models, size: size, rounds: rounds, photos: photos, features: features,
            threads: threads, choices: KernelFile.read(), onProgress: display.show)
        if json {
            try Console.printJSON(comparison)
        } else {
            for line in ComparisonTables(comparison).lines { Console.print(line) }
        }
        try display.finish(of: photos.count)
    }
}
