import Retint

/// A row of a table of color quality.
struct QualityMeasure: Sendable {
    let name: String
    /// The number of decimals to print.
    let digits: Int
    let value: @Sendable (ColorQuality) -> Double?

    static let all = [
        QualityMeasure(name: "PSNR (dB)", digits: 2) { $0.psnrDb },
        QualityMeasure(name: "SSIM", digits: 4) { $0.ssim },
        QualityMeasure(name: "ΔE2000", digits: 2) { $0.deltaE2000 },
        QualityMeasure(name: "ab error", digits: 2) { $0.abError },
        QualityMeasure(name: "ab AuC", digits: 4) { $0.abAuc },
        QualityMeasure(name: "ab AuC rebalanced", digits: 4) { $0.abAucRebalanced },
        QualityMeasure(name: "colorfulness", digits: 2) { $0.colorfulness },
        QualityMeasure(name: "colorfulness error", digits: 2) { $0.colorfulnessDifference },
    ]

    /// Those of photos that are compared at their own size.
    static let edges = [
        QualityMeasure(name: "ab error at edges", digits: 2) { $0.abErrorAtEdges },
        QualityMeasure(name: "ab error elsewhere", digits: 2) { $0.abErrorElsewhere },
    ]

    /// The measure as text: `11.61`.
    func text(_ quality: ColorQuality) -> String {
        Format.fixed(value(quality) ?? .nan, digits)
    }

    /// The confidence interval as text: `10.91 … 12.36`; nil for a single photo.
    func text(_ interval: ConfidenceInterval?) -> String? {
        interval.map { "\(text($0.low)) … \(text($0.high))" }
    }
}
