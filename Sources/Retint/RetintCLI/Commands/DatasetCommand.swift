import ArgumentParser
import Retint

struct DatasetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dataset",
        abstract: "Check training photos, pack them into files, or split them.",
        discussion: """
            The source is a folder, a file list (.txt, one path per line) or a packed dataset \
            (.h5, or a folder of shards). \
            Broken and gray photos and duplicates are listed with the reason, and left out of \
            packs and lists. `retint train` accepts the same sources for data.train and \
            data.validation; of a folder it takes all photos.
            """,
        subcommands: [Inspect.self, Pack.self, Split.self])
}

extension DatasetCommand {
    struct Inspect: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a dataset contains.")

        @OptionGroup var source: SourceOptions

        func run() throws {
            let survey = try source.survey()
            source.warnOfDropped(survey)
            try source.report(survey, survey.summary.line)
        }
    }

    struct Pack: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write photos into one HDF5 file, or into several.",
            discussion: """
                Each photo is a dataset of bytes, photos/<name>, [height, width, 3].

                With --shards, the output is a folder: photos-00000-of-00008.h5 and so on, and \
                photos-index.h5, which lists all photos. To train on it, pass the folder. \
                Packing needs memory for one file; shards of 100 MB to 1 GB suit most disks.
                """)

        @OptionGroup var source: SourceOptions

        @Option(
            name: .shortAndLong,
            help: "The file to write; its name ends in .h5. With --shards, the folder.",
            completion: .checkpoint)
        var output: String

        @Option(help: "Write a folder of this many files.")
        var shards: Int?

        @Option(help: "Larger photos are scaled down to this short side, in pixels.")
        var side = 512

        func validate() throws {
            let isFile = PhotoPack.isFile(named: output)
            guard isFile != (shards != nil) else {
                throw ValidationError(
                    isFile
                        ? "\(output): with --shards, the output is a folder; omit .h5"
                        : "\(output): the name of a packed dataset must end in .h5")
            }
            guard side >= 32 else { throw ValidationError("--side \(side): must be at least 32") }
        }

        func run() throws {
            try check(shards, "--shards", 1...PhotoPack.maximumShards)
            let claim = try OutputClaim(output, inputs: [source.source])
            defer { claim.end() }
            if shards != nil { try PhotoPack.checkReplaceable(output) }
            let survey = try source.usableSurvey()
            let photos = survey.usable.map(\.reference)
            if let shards {
                try PhotoPack.write(photos, toShards: shards, in: output, shortSide: side)
            } else {
                try PhotoPack.write(photos, to: output, shortSide: side)
            }
            try source.report(survey, "\(output): \(survey.summary.line)")
        }
    }

    struct Split: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Divide photos into file lists for training, validation and testing.",
            discussion: """
                The lists are train.txt, validation.txt and test.txt. Only a photo's content \
                decides which list it is in, so it stays there when photos are added.
                """)

        @OptionGroup var source: SourceOptions

        @Option(name: .shortAndLong, help: "The folder for the lists.", completion: .directory)
        var output: String

        @Option(help: "The share of photos for validation.")
        var validation = 0.1

        @Option(help: "The share of photos for testing.")
        var test = 0.1

        @Option(help: "The seed of the random split.")
        var seed: UInt64 = 0

        func validate() throws {
            guard validation >= 0, test >= 0, validation + test < 1 else {
                throw ValidationError(
                    "--validation and --test are fractions of at least 0 whose sum is below 1")
            }
        }

        func run() throws {
            let survey = try source.usableSurvey()
            let split = PhotoSplit(survey.usable, validation: validation, test: test, seed: seed)
            try split.writeLists(to: output)
            let counts = split.parts.map { "\($0.photos.count) in \($0.name).txt" }
            try source.report(
                survey,
                "\(output): \(counts.joined(separator: ", ")); \(survey.dropped.count) left out")
        }
    }
}

/// The source that all subcommands read.
struct SourceOptions: ParsableArguments {
    @Argument(help: "A folder, a file list (.txt) or a packed dataset.", completion: .photos)
    var source: String

    @Flag(help: "Print one JSON object.")
    var json = false

    /// Examines all photos, see ``photoReferences(_:)`` for errors.
    func survey() throws -> PhotoSurvey {
        let references = try photoReferences(source)
        let bar = ProgressBar("checking", total: references.count, unit: "photos")
        defer { bar.finish() }
        return PhotoSurvey(references) { bar.update($0) }
    }

    /// As ``survey()``, with warnings about the photos that are left out.
    ///
    /// - Throws: also ``CommandError`` if these are all.
    func usableSurvey() throws -> PhotoSurvey {
        let survey = try survey()
        warnOfDropped(survey)
        guard survey.usable.isEmpty else { return survey }
        throw CommandError(
            .input,
            "\(source): a network can learn colors from none of its \(survey.dropped.count) "
                + "photos; name others")
    }

    func warnOfDropped(_ survey: PhotoSurvey) {
        guard !json else { return }
        for (reference, problem) in survey.dropped {
            Console.warn("left out \(reference): \(problem)")
        }
    }

    func report(_ survey: PhotoSurvey, _ line: String) throws {
        if json { return try Console.printJSON(survey.summary) }
        Console.print(line)
    }
}

extension PhotoSurvey.Summary {
    fileprivate var line: String {
        let kinds = Dictionary(grouping: dropped, by: \.kind).sorted { $0.key < $1.key }
            .map { "\($1.count) \($0)" }
        let left = kinds.isEmpty ? "none left out" : "left out \(kinds.joined(separator: ", "))"
        return "\(Format.grouped(photos)) photos, median \(medianWidth) × \(medianHeight) as "
            + "decoded, chroma \(Format.fixed(medianChroma, 0)); \(left)"
    }
}
