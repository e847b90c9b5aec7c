import Retint

/// The photos of an evaluation that a page shows: those that the model does worst on, and some on
/// the way to the best.
final class EvaluationPictures {
    struct Picture {
        let file: String
        let deltaE: Double
        let original: Image
        let colored: Image
    }

    private static let most = 24

    private var all: [Picture] = []

    /// Adds the photo that was evaluated last.
    func add(_ file: String, original: Image, colored: Image, _ evaluation: Evaluation) {
        guard let quality = evaluation.colored.last?.quality else { return }
        all.append(
            Picture(
                file: file, deltaE: quality.deltaE2000, original: original, colored: colored))
        // Small enough to keep a few hundred of; of more, every other one goes.
        if all.count > 16 * Self.most {
            all = all.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        }
    }

    /// From the worst to the best.
    var chosen: [Picture] {
        let sorted = all.sorted { $0.deltaE > $1.deltaE }
        let count = min(sorted.count, Self.most)
        return (0..<count).map { sorted[$0 * (sorted.count - 1) / max(count - 1, 1)] }
    }
}

/// An evaluation as a page of HTML.
struct EvaluationPage {
    let report: EvaluationReport
    let pictures: EvaluationPictures

    func write(to path: String) throws {
        let size = report.size
        let head = """
            <h1>\(report.model.escapedForHTML)</h1>
            <p>\(report.images) photos at \(size.width) × \(size.height); means over photos, and \
            between what they lie with a probability of 95 %.</p>
            """
        let table = htmlTable(report.header, report.rows, textColumns: 1)
        let page = HTMLPage(
            title: "evaluation of \(report.model)",
            body: [
                head, table, "<h2>Photos, from the worst to the best</h2>", try strips,
                htmlEnvironment("arithmetic: float32"),
            ])
        try page.write(to: path)
    }

    private var strips: String {
        get throws {
            try pictures.chosen.map { picture in
                try htmlStrip(
                    picture.file, note: "ΔE2000 \(Format.fixed(picture.deltaE, 2))",
                    [
                        ("gray", picture.original.gray), ("model", picture.colored),
                        ("photo", picture.original),
                    ])
            }.joined(separator: "\n")
        }
    }
}
