import ArgumentParser
import Retint

/// A row of a table of color quality.
struct QualityMeasure: Sendable {
    let name: String
    /// The number of decimals to print.
    let digits: Int
    /// Whether bounds of the value are those of its confidence interval; not of absolute values.
    var hasInterval = true
    let value: @Sendable (EvaluationReport.ColorQuality) -> Double?

    /// The tones of skin, and where their values are.
    static let skinTones:
        [(
            name: String,
            path: KeyPath<EvaluationReport.ColorQuality.BySkinTone, Double?> & Sendable
        )] = [
            ("very light", \.veryLight), ("light", \.light), ("intermediate", \.intermediate),
            ("tan", \.tan), ("brown", \.brown), ("dark", \.dark),
        ]

    private static let ofSkin = skinTones.map { tone in
        QualityMeasure(name: "ΔE2000, \(tone.name) skin", digits: 2) {
            $0.skin[keyPath: tone.path]
        }
    }

    private static let all: [QualityMeasure] =
        [
            QualityMeasure(name: "PSNR (dB)", digits: 2) { $0.psnrDb },
            QualityMeasure(name: "SSIM", digits: 4) { $0.ssim },
            QualityMeasure(name: "ΔE2000", digits: 2) { $0.deltaE2000 },
            QualityMeasure(name: "ab error", digits: 2) { $0.abError },
            QualityMeasure(name: "ab AuC", digits: 4) { $0.abAuc },
            QualityMeasure(name: "ab AuC rebalanced", digits: 4) { $0.abAucRebalanced },
            QualityMeasure(name: "colorfulness", digits: 2) { $0.colorfulness },
            QualityMeasure(name: "colorfulness error", digits: 2) { $0.colorfulnessDifference },
            QualityMeasure(name: "colorfulness bias", digits: 2) { $0.colorfulnessBias },
            QualityMeasure(name: "chroma error", digits: 2) { $0.chromaError },
            QualityMeasure(name: "chroma bias", digits: 2) { $0.chromaBias },
            QualityMeasure(name: "hue error", digits: 2) { $0.hueError },
            QualityMeasure(name: "hue angle error (°)", digits: 1) { $0.hueAngleError },
            QualityMeasure(name: "ab error, L 0–25", digits: 2) { $0.abErrorByLightness.darkest },
            QualityMeasure(name: "ab error, L 25–50", digits: 2) { $0.abErrorByLightness.dark },
            QualityMeasure(name: "ab error, L 50–75", digits: 2) { $0.abErrorByLightness.light },
            QualityMeasure(name: "ab error, L 75–100", digits: 2) {
                $0.abErrorByLightness.lightest
            },
            QualityMeasure(name: "chroma of near-gray", digits: 2) { $0.nearGray.chroma },
            QualityMeasure(name: "a of near-gray", digits: 2) { $0.nearGray.a },
            QualityMeasure(name: "b of near-gray", digits: 2) { $0.nearGray.b },
        ] + ofSkin + [
            QualityMeasure(name: "ab error at edges", digits: 2) { $0.abErrorAtEdges },
            QualityMeasure(name: "ab error elsewhere", digits: 2) { $0.abErrorElsewhere },
            QualityMeasure(name: "better than gray", digits: 3) { $0.betterThanGray },
            QualityMeasure(name: "Fréchet distance", digits: 2) { $0.frechetDistance },
        ]

    /// What papers on colorization report, as their code computes it.
    private static let ofPapers = [
        QualityMeasure(name: "PSNR (dB)", digits: 2) { $0.psnrDb },
        QualityMeasure(name: "SSIM", digits: 4) { $0.ssim },
        QualityMeasure(name: "CF", digits: 2) { $0.colorfulness },
        QualityMeasure(name: "ΔCF", digits: 2, hasInterval: false) { abs($0.colorfulnessBias) },
        QualityMeasure(name: "CF of BasicSR", digits: 2) { $0.basicSRColorfulness },
        QualityMeasure(name: "ΔCF of BasicSR", digits: 2, hasInterval: false) {
            abs($0.basicSRColorfulnessBias)
        },
        QualityMeasure(name: "AuC", digits: 4) { $0.abAuc },
        QualityMeasure(name: "AuC rebalanced", digits: 4) { $0.abAucRebalanced },
        QualityMeasure(name: "Fréchet distance", digits: 2) { $0.frechetDistance },
    ]

    /// Which measures a table has.
    enum Selection: String, CaseIterable, ExpressibleByArgument {
        case all, paper
    }

    /// The metrics for which a column of a table has a value.
    static func measured(
        in columns: [EvaluationReport.Column], _ selection: Selection = .all
    ) -> [QualityMeasure] {
        (selection == .paper ? ofPapers : all).filter { measure in
            columns.contains { measure.value($0.quality) != nil }
        }
    }

    /// The metric as text: `11.61`.
    func text(_ quality: EvaluationReport.ColorQuality) -> String {
        Format.fixed(value(quality) ?? .nan, digits)
    }

    /// The confidence interval as text: `10.91 … 12.36`; nil for a single photo, or for a metric
    /// without an interval.
    func text(_ interval: EvaluationReport.ConfidenceInterval?) -> String? {
        guard hasInterval, let interval, value(interval.low) != nil else { return nil }
        return "\(text(interval.low)) … \(text(interval.high))"
    }
}
