import ArgumentParser
import Retint

struct EvaluateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Measure how well a model colors photos whose colors are known.",
        discussion: """
            Each photo is converted to gray, colored by the model and compared with the original \
            at the network's size. Two baselines are measured the same way: the gray photo, and \
            the photo in the mean color of all photos. Values are means over photos, with 95 % \
            bootstrap confidence intervals; a PSNR above 100 dB counts as 100. The rebalanced AuC \
            weights all colors equally. A bias below 0 means that colors are too pale. Near-gray \
            pixels have a true chroma below 5; their predicted chroma, a and b should be near 0. \
            The Fréchet distance, measured with --features, is not the FID of papers; compare it \
            only for the same photos. With --proportions or --enlarge, photos \
            are compared at their own size instead, up to 1,024 pixels per side. A photo that \
            cannot be read is reported and skipped.

            With --video, video is measured instead: a video in color, or clips of 16 frames made \
            from each photo by a pan, a zoom and a change of the exposure. The colors are \
            those of `video`, with and without stable colors. The warp error is the mean \
            distance, in the ab plane, between a pixel and the place in the previous frame that it \
            comes from. The motion of clips is known exactly; that of videos is estimated. \
            CDC, the color distribution consistency, is the Jensen-Shannon divergence of the \
            levels of red, green and blue between frames that are 1, 2 and 4 apart.

            When started by mpirun or srun, all ranks split the photos; the values are the same.

            For example:
              retint evaluate best.h5 --photos photos
            """)

    @Argument(
        help: "A checkpoint or a package.", completion: .model, transform: modelPath)
    var model: String

    @Option(
        name: [.customLong("photos"), .long],
        help: """
            A directory of photos with its subdirectories, a list of photos (.txt) or a packed \
            dataset (.h5); with --video also a video.
            """, completion: .video)
    var data: String

    @Flag(help: "Measure the colors of video and how steady they are.")
    var video = false

    @Option(help: "The side of the network's square input, in pixels.")
    var size: Int?

    @OptionGroup var fitting: FittingOptions

    @OptionGroup var oldPhotoOptions: OldPhotoOptions

    @OptionGroup var featureOptions: FeatureOptions

    @Flag(
        help: """
            Also measure skin, by its tone: for photos of people. What has the chroma of skin \
            counts as skin, such as some wood and food.
            """)
    var skin = false

    @Option(
        help: ArgumentHelp(
            """
            Also measure skin, by its tone, in the boxes of this table, whose columns photo, x, y, \
            width and height are separated by tabs: the path of the photo, relative to the table, \
            and shares of its width and height, 0 to 1.
            """, valueName: "file"), completion: .file(extensions: ["tsv"]))
    var skinBoxes: String?

    @Option(
        help: """
            The measures to print: all, or those that papers report, each as in their code.
            """)
    var metrics = QualityMeasure.Selection.all

    @Option(help: "The number of threads; default: all processors.")
    var threads: Int?

    @OptionGroup var style: StyleOptions

    @OptionGroup var execution: ExecutionOptions

    @Flag(help: "Print one JSON object, with the values of each photo.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Also write a page with the values and the photos, from the worst to the best.",
            valueName: "file"), completion: .page)
    var html: String?

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        try checkName(html, "--html", "html", "htm")
        guard !video || html == nil else {
            throw ValidationError("--html shows photos, and has no effect with --video")
        }
        guard !video || fitting.given == nil else {
            throw ValidationError("--proportions and --enlarge have no effect with --video")
        }
        guard !video || !skin && skinBoxes == nil && metrics == .all else {
            throw ValidationError("--skin, --skin-boxes and --metrics have no effect with --video")
        }
        guard !skin || skinBoxes == nil else {
            throw ValidationError(
                "--skin measures all that has the chroma of skin; omit it with --skin-boxes")
        }
        guard !video || featureOptions.features == nil && oldPhotoOptions.oldPhoto == nil else {
            throw ValidationError("--features and --old-photo have no effect with --video")
        }
    }

    func run() async throws {
        try check(size, "--size", Model.sideRange)
        let execution = try execution.value(threads: threads)
        let ranks = try joinRanks()
        if video { return try await runVideo(execution, ranks) }
        let page = ranks.rank == 0 ? html : nil
        let photos = try photoReferences(data)
        let claim = try page.map {
            try OutputClaim($0, inputs: [self.model, data] + Photos.files(photos))
        }
        defer { claim?.end() }
        let model = try Model(contentsOf: model, execution: execution).inStyle(style.style)
        self.execution.note()
        if ranks.rank == 0 { warnOfRange(of: model) }
        let options = try options
        if ranks.rank == 0 { Photos.noteSubfolders(photos, of: data) }
        let display = EvaluationDisplay()
        let strips = html.map { _ in EvaluationStrips(of: photos) }
        let report = try await model.evaluate(
            on: photos, options, ranks: ranks,
            onProgress: { display.show($0) }, onColored: { strips?.add($0) })
        if let strips {
            let strips = try strips.gathered(ranks)
            try page.map { try EvaluationPage(report: report, strips: strips).write(to: $0) }
        }
        try show(report)
        if ranks.rank == 0 { Photos.warn(ofGray: report, in: data) }
        try ranks.endTogether { try display.finish(of: photos.count) }
    }

    private var options: EvaluationOptions {
        get throws {
            var options = EvaluationOptions(size: size)
            (options.fitting, options.oldPhoto) = (fitting.given, oldPhotoOptions.settings)
            if skin { options.skin = .wholePhotos }
            if let skinBoxes { options.skin = .boxes(try SkinBoxes(contentsOf: skinBoxes)) }
            options.features = try featureOptions.network()
            return options
        }
    }

    private func show(_ report: EvaluationReport) throws {
        if json { return try Console.printJSON(report) }
        Console.print("\(report.photos.count) photos at \(report.sizeText)")
        for line in report.table(metrics).lines { Console.print(line) }
        if let gains = report.skinGains { Console.print(gains) }
        if let features = report.features { Console.print("features: \(features)") }
    }

    private func runVideo(_ execution: Execution, _ ranks: Communicator) async throws {
        let model = try Model(contentsOf: model, execution: execution).inStyle(style.style)
        self.execution.note()
        guard try isVideo else {
            let photos = try photoReferences(data)
            let display = EvaluationDisplay()
            try show(
                try await model.evaluateVideo(
                    on: photos, size: size, ranks: ranks, onProgress: { display.show($0) }))
            return try ranks.endTogether { try display.finish(of: photos.count) }
        }
        try ranks.requireOne(for: "measurements of one video")
        let bar = ProgressBar("evaluate", total: 0, unit: "frames")
        let report = try await model.evaluateVideo(
            video: data, size: size, onFrame: { bar.update($0) })
        bar.finish()
        try show(report)
    }

    /// Whether the data is a video: a file that is neither a list, nor a pack, nor a photo.
    private var isVideo: Bool {
        get throws {
            let isListOrPack = data.hasSuffix(".txt") || PhotoPack.isFile(named: data)
            return try !isListOrPack && !PhotoFile.isPhotos(data) && !PhotoReference.isFolder(data)
        }
    }

    private func show(_ report: VideoReport) throws {
        if json { return try Console.printJSON(report) }
        Console.print(report.summary)
        for line in report.table.lines { Console.print(line) }
    }
}
