import ArgumentParser
import Retint

struct ColorizeCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case png, jpeg
    }

    static let configuration = CommandConfiguration(
        commandName: "colorize",
        abstract: "Colorize photos.",
        discussion: """
            Each photo keeps its name, its size and its lightness. A photo that cannot be read is \
            reported, and the others are still colored.
            """)

    @Argument(help: "A checkpoint or a package.")
    var model: String

    @Argument(help: "The photos: JPEG, PNG or WebP.")
    var photos: [String]

    @Option(name: .shortAndLong, help: "The directory to write to; created if needed.")
    var output: String

    @Option(help: "The side of the square at which the network sees a photo, in pixels.")
    var size: Int?

    @Option(help: "The format to write; if not given, JPEG for JPEG photos and PNG for others.")
    var format: Format?

    @Flag(help: "Also write a strip of each photo: gray, colored, original.")
    var compare = false

    @Option(
        help: """
            With --compare, another model, whose colors the strip shows to the left of this \
            model's.
            """)
    var before: String?

    @Option(
        help: """
            A factor for the colors of these photos, 0 to 4: 1.3 makes a pale network's more \
            vivid. It multiplies the network's own saturation, which `import` sets.
            """)
    var saturation = 1.0

    @Option(help: "The number of threads; all processors if not given.")
    var threads: Int?

    func validate() throws {
        guard (0...4).contains(saturation) else {
            throw ValidationError("--saturation \(saturation): must be from 0 to 4")
        }
        guard compare || before == nil else {
            throw ValidationError("--before has no effect without --compare")
        }
    }

    func run() throws {
        try checkPositive(size, "--size")
        try checkPositive(threads, "--threads")
        let jobs = try jobs()
        let colorizer = try loaded(model)
        let earlier = try before.map(loaded(_:))
        try createFolder(output)
        var failures = Failures()
        let progress =
            jobs.count > 1 ? ProgressBar("colorize", total: jobs.count, unit: "photos") : nil
        for (index, job) in jobs.enumerated() {
            do {
                try run(job, colorizer, before: earlier)
                progress?.clear()
                Console.print(job.output)
            } catch {
                progress?.clear()
                failures.add(error)
            }
            progress?.update(index + 1)
        }
        progress?.finish()
        try failures.finish(of: jobs.count, "photos", "colorized")
    }
}

extension ColorizeCommand {
    private struct Job {
        let photo: String
        let output: String
        let strip: String
        let format: ImageFormat
    }

    /// The photos with their output files. Neither may a photo be overwritten nor two photos be
    /// written to one file.
    private func jobs() throws -> [Job] {
        let jobs = photos.map(job)
        let inputs = Set(photos.compactMap(FileIdentity.init(of:)))
        var owners: [String: String] = [:]
        for job in jobs {
            for path in compare ? [job.output, job.strip] : [job.output] {
                if let other = owners.updateValue(job.photo, forKey: path) {
                    throw CommandError(
                        .wrongUsage,
                        "\(other) and \(job.photo) would both be written to \(path); "
                            + "colorize them into different folders")
                }
                try refuseOverwriting(inputs, with: path)
            }
        }
        return jobs
    }

    private func job(_ photo: String) -> Job {
        let path = photo.filePath
        let isJPEG = ["jpg", "jpeg"].contains(path.extension?.lowercased())
        let writesJPEG = format.map { $0 == .jpeg } ?? isJPEG
        let name = path.stem ?? photo
        let suffix = writesJPEG ? "jpg" : "png"
        let base = output.hasSuffix("/") ? output + name : "\(output)/\(name)"
        return Job(
            photo: photo, output: "\(base).\(suffix)", strip: "\(base)-compare.\(suffix)",
            format: writesJPEG ? .jpeg() : .png())
    }

    private func loaded(_ model: String) throws -> Colorizer {
        try Colorizer(
            contentsOf: model, size: size, threads: threads, choices: KernelFile.read())
    }

    private func run(
        _ job: Job, _ colorizer: Colorizer, before: Colorizer?
    ) throws {
        let photo = try Image(contentsOf: job.photo)
        let colored = try colorizer.colorize(photo, saturation: Float(saturation))
        try colored.write(to: job.output, format: job.format)
        guard compare else { return }
        let earlier = try before?.colorize(photo, saturation: Float(saturation))
        let strip = Image.sideBySide([photo.gray, earlier, colored, photo].compactMap { $0 })
        try strip.write(to: job.strip, format: job.format)
    }
}
