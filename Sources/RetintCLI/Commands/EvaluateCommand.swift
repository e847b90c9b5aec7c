import ArgumentParser
import ImageIO
import Retint

struct EvaluateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Measure how well a model colors photos whose colors are known.",
        discussion: """
            The photos of a directory and its subdirectories are made gray, colored by the model \
            and compared with the originals at the size at which the network sees them, and so \
            are the gray photos. Values are means over photos; a PSNR above 100 dB counts as 100.
            """)

    @Argument(help: "A checkpoint or a package.")
    var model: String

    @Option(help: "The directory of photos.")
    var data: String

    @Option(help: "The side of the square at which the network looks at a photo, in pixels.")
    var size: Int?

    @Option(help: "Threads to run on.")
    var threads: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        try checkPositive(size, "--size")
        try checkPositive(threads, "--threads")
        let colorizer = try Retint.Colorizer(
            contentsOf: model, size: size, threads: threads, choices: KernelFile.read())
        let photos = try photoFiles(below: data)
        var evaluation = Evaluation(colorizer)
        var failures = Failures()
        let progress = ProgressBar("evaluate", total: photos.count, unit: "photos")
        for (index, path) in photos.enumerated() {
            do {
                try evaluation.add(Image(contentsOf: path))
            } catch {
                progress.clear()
                failures.add(error)
            }
            progress.update(index + 1)
        }
        progress.finish()
        try report(evaluation, failures, size: colorizer.networkSize)
        try failures.finish(of: photos.count, "photos", "evaluated")
    }

    private func report(
        _ evaluation: Evaluation, _ failures: Failures, size: (height: Int, width: Int)
    ) throws {
        guard let report = EvaluationReport(evaluation, failures, size: size) else { return }
        if json { return try Console.printJSON(report) }
        Console.print("\(report.images) photos at \(size.width) × \(size.height)")
        for line in report.table.lines { Console.print(line) }
    }
}

/// What `evaluate` has to say.
private struct EvaluationReport: Encodable {
    struct Original: Encodable {
        let colorfulness: Double
    }

    let images: Int
    let failed: Int
    let height: Int
    let width: Int
    let quality: ColorQuality
    let gray: ColorQuality
    let original: Original

    private enum CodingKeys: String, CodingKey {
        case images, failed, height, width, gray, original
    }

    init?(_ evaluation: Evaluation, _ failures: Failures, size: (height: Int, width: Int)) {
        guard let quality = evaluation.quality, let gray = evaluation.grayQuality,
            let colorfulness = evaluation.originalColorfulness
        else { return nil }
        images = evaluation.images
        failed = failures.count
        (height, width) = size
        (self.quality, self.gray) = (quality, gray)
        original = Original(colorfulness: colorfulness)
    }

    /// The model's own values stand beside the rest, not in an object of their own.
    func encode(to encoder: any Encoder) throws {
        try quality.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(images, forKey: .images)
        try container.encode(failed, forKey: .failed)
        try container.encode(height, forKey: .height)
        try container.encode(width, forKey: .width)
        try container.encode(gray, forKey: .gray)
        try container.encode(original, forKey: .original)
    }

    var table: TextTable {
        var table = TextTable(
            header: ["", "model", "gray", "original"], rightAligned: [1, 2, 3])
        func row(
            _ name: String, _ digits: Int, _ value: (ColorQuality) -> Double?, _ original: String
        ) {
            let cells = [quality, gray].map { Format.fixed(value($0) ?? .nan, digits) }
            table.append([name] + cells + [original])
        }
        row("PSNR (dB)", 2, \.psnrDb, "")
        row("SSIM", 4, \.ssim, "")
        row("ΔE2000", 2, \.deltaE2000, "")
        row("ab error", 2, \.abError, "")
        row("ab AuC", 4, \.abAuc, "")
        row("colorfulness", 2, \.colorfulness, Format.fixed(original.colorfulness, 2))
        return table
    }
}
