import ArgumentParser
import Retint

struct EvaluateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Measure how well a model colors photos whose colors are known.",
        discussion: """
            Each photo is made gray, colored by the model and compared with the original at the \
            network's size. Two baselines are measured the same way: the gray photo, and the \
            photo in the mean color of all photos. Values are means over photos, with 95 % \
            bootstrap confidence intervals; a PSNR above 100 dB counts as 100. The rebalanced AuC \
            weights all colors equally. A bias below 0 means that colors are too pale. Pixels \
            whose true chroma is below 5 are near-gray, and should have a chroma, an a and a b \
            near 0. The Fréchet distance, measured with --features, is not the FID of papers, and \
            only that of the same photos is comparable. With --proportions or --enlarge, photos \
            are compared at their own size instead, up to 1,024 pixels a side. A photo that cannot \
            be read is reported and left out.

            With --video, films are measured instead: a film in color, or clips of 16 frames that \
            are made of each photo by a pan, a zoom and a change of the exposure. The colors are \
            those that `video` gives, with and without stable colors. The warp error is the mean \
            distance, in the ab plane, between a pixel and the place in the frame before that it \
            comes from. The motion of made clips is known exactly; that of films is estimated. \
            CDC, the color distribution consistency, is the Jensen-Shannon divergence of the \
            levels of red, green and blue between frames that are 1, 2 and 4 apart.

            Started by mpirun or srun, all ranks share out the photos; the values are the same.
            """)

    @Argument(help: "A checkpoint or a package.", completion: .model)
    var model: String

    @Option(
        help: """
            A directory of photos with its subdirectories, a list of photos (.txt) or a packed \
            dataset (.h5); with --video also a film.
            """, completion: .film)
    var data: String

    @Flag(help: "Measure the colors of films and how steady they are.")
    var video = false

    @Option(help: "The side of the square at which the network sees a photo, in pixels.")
    var size: Int?

    @OptionGroup var fitting: FittingOptions

    @OptionGroup var oldPhotoOptions: OldPhotoOptions

    @OptionGroup var featureOptions: FeatureOptions

    @Option(help: "The number of threads; all processors if not given.")
    var threads: Int?

    @OptionGroup var memory: MemoryOptions

    @OptionGroup var arithmetic: ComputeOptions

    @Flag(help: "Print one JSON object, with the values of each photo.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Also write a page with the values and photos from the worst to the best.",
            valueName: "file"), completion: .page)
    var html: String?

    func validate() throws {
        guard !video || html == nil else {
            throw ValidationError("--html shows photos, and has no effect with --video")
        }
        guard !video || fitting.given == nil else {
            throw ValidationError("--proportions and --enlarge have no effect with --video")
        }
        guard !video || featureOptions.features == nil && oldPhotoOptions.oldPhoto == nil else {
            throw ValidationError("--features and --old-photo have no effect with --video")
        }
    }

    func run() async throws {
        try check(size, "--size", Model.sideRange)
        try check(threads, "--threads", CompileOptions.threadRange)
        let ranks = try joinRanks()
        if video { return try await runVideo(ranks) }
        let page = ranks.rank == 0 ? html : nil
        let claim = try page.map { try claimOutput($0, inputs: [self.model, data]) }
        defer { claim?.end() }
        let model = arithmetic.applied(to: try memory.model(contentsOf: model))
        let features = try featureOptions.network()
        let photos = try photoReferences(data)
        let display = EvaluationDisplay()
        let strips = html.map { _ in EvaluationStrips(of: photos.count) }
        let report = try await evaluate(
            model, on: photos, size: size, threads: threads, choices: KernelFile.read(),
            fitting: fitting.given, oldPhoto: oldPhotoOptions.settings, features: features,
            ranks: ranks,
            onProgress: { display.show($0) }, onColored: { strips?.add($0) })
        if let strips {
            let strips = try strips.gathered(ranks)
            try page.map { try EvaluationPage(report: report, strips: strips).write(to: $0) }
        }
        try show(report)
        try ranks.endTogether { try display.finish(of: photos.count) }
    }

    private func show(_ report: EvaluationReport) throws {
        if json { return try Console.printJSON(report) }
        Console.print("\(report.photos.count) photos at \(report.sizeText)")
        for line in report.table.lines { Console.print(line) }
        if let features = report.features { Console.print("features: \(features)") }
    }

    private func runVideo(_ ranks: Communicator) async throws {
        let model = arithmetic.applied(to: try memory.model(contentsOf: model))
        guard try isFilm else {
            let photos = try photoReferences(data)
            let display = EvaluationDisplay()
            try show(
                try await evaluateVideo(
                    model, on: photos, size: size, threads: threads, choices: KernelFile.read(),
                    ranks: ranks, onProgress: { display.show($0) }))
            return try ranks.endTogether { try display.finish(of: photos.count) }
        }
        try ranks.requireOne(for: "measurements of one film")
        let bar = ProgressBar("evaluate", total: 0, unit: "frames")
        let report = try await evaluateVideo(
            model, film: data, size: size, choices: KernelFile.read(), onFrame: { bar.update($0) })
        bar.finish()
        try show(report)
    }

    /// Whether the data is a video: a file that is neither a list nor a pack.
    private var isFilm: Bool {
        get throws {
            let isListOrPack = [".txt", ".h5", ".hdf5"].contains { data.hasSuffix($0) }
            return try !isListOrPack && !isDirectory(data)
        }
    }

    private func show(_ report: VideoReport) throws {
        if json { return try Console.printJSON(report) }
        Console.print(report.summary)
        for line in report.table.lines { Console.print(line) }
    }
}
