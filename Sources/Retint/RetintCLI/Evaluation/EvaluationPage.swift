import Retint
import Synchronization

/// The photos of an evaluation that a page shows: evenly spaced from the worst to the best.
final class EvaluationStrips: Sendable {
    private static let maximumCount = 24
    /// This many photos are kept to choose from.
    private static let keptCount = 16 * maximumCount

    private let photos = Mutex<[EvaluationReport.ColoredPhoto]>([])
    /// With many photos, only every second, fourth … is kept, to save memory.
    private let spacing: Int
    private let names: PageNames

    /// - Parameter photos: those of the evaluation.
    init(of photos: [PhotoReference]) {
        names = PageNames(photos.map { "\($0)" })
        let count = photos.count
        var spacing = 1
        while count > spacing * Self.keptCount { spacing *= 2 }
        self.spacing = spacing
    }

    /// Adds a photo.
    func add(_ photo: EvaluationReport.ColoredPhoto) {
        guard photo.index % spacing == 0 else { return }
        photos.withLock { $0.append(photo) }
    }

    /// The photos of all ranks to show, the worst first, as HTML; empty on ranks other than 0.
    func gathered(_ ranks: Communicator) throws -> [String] {
        let kept = photos.withLock { $0 }
        let all = try ranks.gather(kept.map { Error(photo: $0.index, $0.quality.deltaE2000) })
        let chosen = Self.chosen(all.joined().sorted())
        let own = try kept.filter { chosen.contains($0.index) }.map { photo in
            [photo.index: try photo.strip(named: names("\(photo.photo)"))]
        }
        let strips = try ranks.gather(own).joined().reduce(into: [:]) { all, strip in
            all.merge(strip) { first, _ in first }
        }
        return chosen.compactMap { strips[$0] }
    }

    /// Evenly spaced photos from the worst to the best.
    private static func chosen(_ sorted: [Error]) -> [Int] {
        let count = min(sorted.count, maximumCount)
        return (0..<count).map { sorted[$0 * (sorted.count - 1) / max(count - 1, 1)].photo }
    }

    /// Sorts from the worst photo to the best.
    private struct Error: Codable, Comparable {
        let photo: Int
        let deltaE: Double

        init(photo: Int, _ deltaE: Double) { (self.photo, self.deltaE) = (photo, deltaE) }

        static func < (one: Error, other: Error) -> Bool {
            (-one.deltaE, one.photo) < (-other.deltaE, other.photo)
        }
    }
}

extension EvaluationReport.ColoredPhoto {
    fileprivate func strip(named name: String) throws -> String {
        try HTMLPage.strip(
            name, note: "ΔE2000 \(Format.fixed(quality.deltaE2000, 2))",
            [("gray", original.gray), ("model", colored), ("photo", original)])
    }
}

/// An evaluation as an HTML page.
struct EvaluationPage {
    let report: EvaluationReport
    /// Photos as HTML, the worst first.
    let strips: [String]

    func write(to path: String) throws {
        let head = """
            <h1>\(report.model.fileName.escapedForHTML)</h1>
            <p>\(report.photos.count) photos at \(report.sizeText); means over \
            photos, with 95 % bootstrap confidence intervals.\(report.featuresText)</p>
            """
        let table =
            HTMLPage.table(report.header, report.rows(), textColumns: 1)
            + HTMLPage.explanation(
                of: ["PSNR", "ΔE2000", "AuC", "colorfulness", "better than gray"])
        let page = HTMLPage(
            title: "evaluation of \(report.model.fileName)",
            body: [
                head, table, "<h2>Photos, from the worst to the best</h2>",
                strips.joined(separator: "\n"),
                htmlEnvironment("arithmetic: float32"),
            ])
        try page.write(to: path)
    }
}
