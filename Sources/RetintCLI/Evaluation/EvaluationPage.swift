import Retint
import Synchronization

/// The photos of an evaluation that a page shows: evenly spaced from the worst to the best.
final class EvaluationStrips: Sendable {
    private static let maximumCount = 24

    private let photos = Mutex<[ColoredPhoto]>([])

    /// Adds a photo. Beyond a few hundred, every other photo is dropped to save memory.
    func add(_ photo: ColoredPhoto) {
        photos.withLock { photos in
            photos.append(photo)
            if photos.count > 16 * Self.maximumCount {
                photos = photos.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            }
        }
    }

    /// The photos to show, the worst first.
    var chosen: [ColoredPhoto] {
        let sorted = photos.withLock { $0 }.sorted {
            $0.quality.deltaE2000 > $1.quality.deltaE2000
        }
        let count = min(sorted.count, Self.maximumCount)
        return (0..<count).map { sorted[$0 * (sorted.count - 1) / max(count - 1, 1)] }
    }
}

/// An evaluation as an HTML page.
struct EvaluationPage {
    let report: EvaluationReport
    let strips: EvaluationStrips

    func write(to path: String) throws {
        let head = """
            <h1>\(report.model.escapedForHTML)</h1>
            <p>\(report.photos.count) photos at \(report.sizeText); means over \
            photos, with 95 % bootstrap confidence intervals.</p>
            """
        let table = htmlTable(report.header, report.rows, textColumns: 1)
        let page = HTMLPage(
            title: "evaluation of \(report.model)",
            body: [
                head, table, "<h2>Photos, from the worst to the best</h2>", try htmlStrips,
                htmlEnvironment("arithmetic: float32"),
            ])
        try page.write(to: path)
    }

    private var htmlStrips: String {
        get throws {
            try strips.chosen.map { photo in
                try htmlStrip(
                    "\(photo.photo)",
                    note: "ΔE2000 \(Format.fixed(photo.quality.deltaE2000, 2))",
                    [
                        ("gray", photo.original.gray), ("model", photo.colored),
                        ("photo", photo.original),
                    ])
            }.joined(separator: "\n")
        }
    }
}
