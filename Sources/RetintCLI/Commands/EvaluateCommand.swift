import ArgumentParser
import ImageIO
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
        let (readable, mean) = readable(photos, &failures)
        var evaluation = Evaluation(colorizer, meanColor: mean)
        let pictures = html.map { _ in EvaluationPictures() }
        let progress = ProgressBar("evaluate", total: readable.count, unit: "photos")
        for (index, photo) in readable.enumerated() {
            let (original, colored) = try evaluation.add(photo.image())
            pictures?.add("\(photo)", original: original, colored: colored, evaluation)
            progress.update(index + 1)
        }
        progress.finish()
        if let report = EvaluationReport(
            evaluation, photos: readable.map(\.description), failed: failures.count, model: model,
            size: colorizer.networkSize)
        {
            try show(report, pictures)
        }
        try failures.finish(of: photos.count, "photos", "evaluated")
    }

    /// The photos that can be read, and their mean color; the others join the failures.
    private func readable(
        _ photos: [PhotoReference], _ failures: inout Failures
    ) -> (photos: [PhotoReference], mean: (a: Float, b: Float)) {
        var (readable, mean) = ([PhotoReference](), MeanColor())
        for photo in photos {
            do {
                mean.add(try photo.image())
                readable.append(photo)
            } catch {
                failures.add(error)
            }
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
