import ArgumentParser
import Foundation
import Retint

struct DatasetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dataset",
        abstract: "Look at photos to train on, pack them into one file, or split them.",
        discussion: """
            SOURCE is a folder, a file list (.txt, a path a line) or a packed dataset (.h5); \
            retint train takes the same for data.train and data.validation. Photos that are \
            broken, gray or duplicates are left out, and listed with the reason.
            """,
        subcommands: [Inspect.self, Pack.self, Split.self])
}

extension DatasetCommand {
    struct Inspect: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Say what is in a dataset.")

        @OptionGroup var source: SourceOptions

        func run() throws {
            let survey = try source.survey()
            if source.json { return try Console.printJSON(DatasetReport(survey)) }
            try source.listDropped(survey)
            Console.print(DatasetReport(survey).line)
        }
    }

    struct Pack: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write photos into one HDF5 file.",
            discussion: "Each is a dataset of bytes, photos/<name>, [height, width, 3].")

        @OptionGroup var source: SourceOptions

        @Option(name: .shortAndLong, help: "The file to write; its name ends in .h5.")
        var output: String

        @Option(help: "Larger photos are scaled down to this short side, in pixels.")
        var side = 512

        func validate() throws {
            guard output.hasSuffix(".h5") || output.hasSuffix(".hdf5") else {
                throw ValidationError("\(output): a packed dataset's name ends in .h5")
            }
            guard side >= 32 else { throw ValidationError("--side \(side): take 32 or more") }
        }

        func run() throws {
            let survey = try source.survey()
            try source.listDropped(survey)
            let names = uniqueNames(survey.usable.map { "\($0.reference)" })
            let photos = zip(names, survey.usable.map(\.reference)).sorted { $0.0 < $1.0 }
            try PhotoPack.write(photos.map(\.0), to: output) { index in
                try photos[index].1.image(minimumSide: side).scaledDown(toShortSide: side)
            }
            try source.report(survey, "\(output): \(DatasetReport(survey).line)")
        }
    }

    struct Split: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write file lists to train on, to validate and to test with.",
            discussion: """
                train.txt, validation.txt and test.txt name the photos. A photo's look decides \
                where it goes, so it stays there when others are added.
                """)

        @OptionGroup var source: SourceOptions

        @Option(name: .shortAndLong, help: "The folder for the lists.")
        var output: String

        @Option(help: "The share to validate with.")
        var validation = 0.1

        @Option(help: "The share to test with.")
        var test = 0.1

        @Option(help: "Another seed makes another split.")
        var seed: UInt64 = 0

        func validate() throws {
            guard validation >= 0, test >= 0, validation + test < 1 else {
                throw ValidationError("--validation and --test are shares that leave some to train")
            }
        }

        func run() throws {
            let survey = try source.survey()
            try source.listDropped(survey)
            let split = PhotoSplit(survey.usable, validation: validation, test: test, seed: seed)
            let parts = [
                ("train", split.train), ("validation", split.validation), ("test", split.test),
            ]
            try makeDirectory(output)
            for (name, photos) in parts {
                let lines = try photos.map { try absolutePath($0.reference) + "\n" }
                try AtomicFile.write(Array(lines.joined().utf8), to: "\(output)/\(name).txt")
            }
            let counts = parts.map { "\($1.count) in \($0).txt" }.joined(separator: ", ")
            try source.report(survey, "\(output): \(counts); \(survey.dropped.count) left out")
        }
    }
}

extension PhotoPackError: OutcomeError {
    package var outcome: Outcome { .badInput }
}

/// What all of them read.
struct SourceOptions: ParsableArguments {
    @Argument(help: "A folder, a file list (.txt) or a packed dataset (.h5).")
    var source: String

    @Flag(help: "Print one JSON object.")
    var json = false

    /// Looks at all photos.
    ///
    /// - Throws: what ``photoReferences(_:)`` throws.
    func survey() throws -> PhotoSurvey {
        let references = try photoReferences(source)
        let bar = ProgressBar("looking", total: references.count, unit: "photos")
        defer { bar.finish() }
        return PhotoSurvey(references) { bar.update($0) }
    }

    func listDropped(_ survey: PhotoSurvey) throws {
        guard !json else { return }
        for (reference, problem) in survey.dropped {
            Console.warn("left out \(reference): \(problem)")
        }
    }

    func report(_ survey: PhotoSurvey, _ line: String) throws {
        if json { return try Console.printJSON(DatasetReport(survey)) }
        Console.print(line)
    }
}

/// A survey in figures.
private struct DatasetReport: Encodable {
    struct Dropped: Encodable {
        let photo, kind, reason: String
    }

    let photos: Int
    let medianWidth, medianHeight: Int
    /// The median over photos of the chroma that 99 of 100 pixels do not exceed.
    let medianChroma: Double
    let dropped: [Dropped]

    init(_ survey: PhotoSurvey) {
        func median<Value: Comparable>(_ values: [Value]) -> Value? {
            values.isEmpty ? nil : values.sorted()[values.count / 2]
        }
        photos = survey.usable.count
        medianWidth = median(survey.usable.map(\.width)) ?? 0
        medianHeight = median(survey.usable.map(\.height)) ?? 0
        medianChroma = Double(median(survey.usable.map(\.chroma)) ?? 0)
        dropped = survey.dropped.map {
            Dropped(photo: "\($0.reference)", kind: $0.problem.kind, reason: "\($0.problem)")
        }
    }

    var line: String {
        let kinds = Dictionary(grouping: dropped, by: \.kind).sorted { $0.key < $1.key }
            .map { "\($1.count) \($0)" }
        let left = kinds.isEmpty ? "none left out" : "left out \(kinds.joined(separator: ", "))"
        return "\(Format.grouped(photos)) photos, median \(medianWidth) × \(medianHeight) as "
            + "decoded, chroma \(Format.fixed(medianChroma, 0)); \(left)"
    }
}

/// The last part of each path, with a number where two are the same.
/// The files' own names; of those that are equal, all but the first with a number before it.
func uniqueNames(_ paths: [String]) -> [String] {
    var taken: Set<String> = []
    return paths.map { path in
        let name = String(path.split(separator: "/").last ?? "photo")
        var unique = name
        var number = 1
        while !taken.insert(unique).inserted {
            unique = "\(number)-\(name)"
            number += 1
        }
        return unique
    }
}

private func absolutePath(_ reference: PhotoReference) throws -> String {
    guard case .file(let path) = reference else {
        throw CommandError(
            .wrongUsage,
            "a packed dataset cannot be split into file lists; split its photos "
                + "before they are packed")
    }
    return path.hasPrefix("/")
        ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
}
