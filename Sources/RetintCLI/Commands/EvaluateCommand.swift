import ArgumentParser
import Retint

struct EvaluateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Measure how well a model colors photos whose colors are known.",
        discussion: """
            The photos of a directory and its subdirectories, of a list or of a packed dataset are \
            made gray, colored by the model and compared with the originals at the size at which the network sees them; so are \
            the gray photos, and the photos in one color, the mean of all. Values are means over \
            photos; a PSNR above 100 dB counts as 100. The rebalanced AuC lets every color count \
            alike. Intervals hold the value of all such photos with a probability of 95 %.
            """)

    @Argument(help: "A checkpoint or a package.")
    var model: String

    @Option(help: "A directory of photos, a list of them (.txt) or a packed dataset (.h5).")
    var data: String

    @Option(help: "The side of the square at which the network looks at a photo, in pixels.")
    var size: Int?

    @Option(help: "Threads to run on.")
    var threads: Int?

    @Flag(help: "Print one JSON object, with the values of each photo.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Also write a page with the values and the photos the model does worst on.",
            valueName: "file"))
    var html: String?

    func run() throws {
        try checkPositive(size, "--size")
        try checkPositive(threads, "--threads")
        let colorizer = try Retint.Colorizer(
            contentsOf: model, size: size, threads: threads, choices: KernelFile.read())
        let photos = try photoReferences(data)
        var failures = Failures()
        let (readable, mean) = readable(photos, colorizer.networkSize, &failures)
        var evaluation = Evaluation(colorizer, meanColor: mean)
        let pictures = html.map { _ in EvaluationPictures() }
        let progress = ProgressBar("evaluate", total: readable.count, unit: "photos")
        for (index, entry) in readable.enumerated() {
            let picture = try entry.picture ?? entry.photo.image()
            let (original, colored) = try evaluation.add(picture)
            pictures?.add(
                "\(entry.photo)", original: original, colored: colored, evaluation)
            progress.update(index + 1)
        }
        progress.finish()
        if let report = EvaluationReport(
            evaluation, photos: readable.map(\.photo.description), failed: failures.count,
            model: model, size: colorizer.networkSize)
        {
            try show(report, pictures)
        }
        try failures.finish(of: photos.count, "photos", "evaluated")
    }

    /// A photo that can be read.
    private struct Readable {
        let photo: PhotoReference
        /// At the network's size, so that a file is decoded once; nil after too many others.
        let picture: Image?
    }

    /// Bytes of pictures that are kept.
    private static let keptBytes = 1 << 29

    /// The photos that can be read, and their mean color; the others join the failures.
    private func readable(
        _ photos: [PhotoReference], _ size: (height: Int, width: Int), _ failures: inout Failures
    ) -> (photos: [Readable], mean: (a: Float, b: Float)) {
        var (readable, mean) = ([Readable](), MeanColor())
        let progress = ProgressBar("read", total: photos.count, unit: "photos")
        defer { progress.finish() }
        for (index, photo) in photos.enumerated() {
            do {
                let image = try photo.image()
                mean.add(image)
                let isKept = (readable.count + 1) * 3 * size.height * size.width <= Self.keptBytes
                readable.append(
                    Readable(
                        photo: photo,
                        picture: isKept
                            ? image.resized(to: size.width, height: size.height) : nil))
            } catch {
                failures.add(error)
            }
            progress.update(index + 1)
        }
        return (readable, mean.value)
    }

    private func show(_ report: EvaluationReport, _ pictures: EvaluationPictures?) throws {
        if let html, let pictures {
            try EvaluationPage(report: report, pictures: pictures).write(to: html)
        }
        if json { return try Console.printJSON(report) }
        Console.print(
            "\(report.images) photos at \(report.size.width) × \(report.size.height)")
        for line in report.table.lines { Console.print(line) }
    }
}
