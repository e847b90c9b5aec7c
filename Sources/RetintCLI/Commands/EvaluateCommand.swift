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
            weights all colors equally. A photo that cannot be read is reported and left out.
            """)

    @Argument(help: "A checkpoint or a package.")
    var model: String

    @Option(
        help: """
            A directory of photos with its subdirectories, a list of photos (.txt) or a packed \
            dataset (.h5).
            """)
    var data: String

    @Option(help: "The side of the square at which the network sees a photo, in pixels.")
    var size: Int?

    @Option(help: "The number of threads; all processors if not given.")
    var threads: Int?

    @Flag(help: "Print one JSON object, with the values of each photo.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Also write a page with the values and photos from the worst to the best.",
            valueName: "file"))
    var html: String?

    func run() async throws {
        try checkPositive(size, "--size")
        try checkPositive(threads, "--threads")
        let model = try Model(contentsOf: model)
        let photos = try photoReferences(data)
        let display = EvaluationDisplay()
        let strips = html.map { _ in EvaluationStrips() }
        let report = try await evaluate(
            model, on: photos, size: size, threads: threads, choices: KernelFile.read(),
            onProgress: { display.show($0) }, onColored: { strips?.add($0) })
        if let html, let strips {
            try EvaluationPage(report: report, strips: strips).write(to: html)
        }
        try show(report)
        try display.finish(of: photos.count)
    }

    private func show(_ report: EvaluationReport) throws {
        if json { return try Console.printJSON(report) }
        Console.print("\(report.photos.count) photos at \(report.width) × \(report.height)")
        for line in report.table.lines { Console.print(line) }
    }
}
