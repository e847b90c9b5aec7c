extension HTMLPage {
    /// A sentence on each measure of a page.
    ///
    /// - Parameter names: such as `ΔE2000`; others have no sentence.
    public static func explanation(of names: [String]) -> String {
        let lines = names.compactMap { name in
            meanings[name].map { "<b>\(name.escapedForHTML)</b>: \($0.escapedForHTML)" }
        }
        return "<p class=\"key\">\(lines.joined(separator: " "))</p>"
    }

    /// What a title or a column is about; nil if it names none of the measures.
    static func meaning(of title: String) -> String? {
        meanings.first { name, _ in title.lowercased().contains(name.lowercased()) }?.value
    }

    /// What measures mean, by their names.
    private static let meanings = [
        "loss": "What training minimizes; lower is better.",
        "ΔE2000":
            "The mean visible difference from the colors of the photo (CIEDE2000); lower is "
            + "better, 1 is barely visible.",
        "PSNR":
            "The peak signal-to-noise ratio of the colors; higher is better, 6 dB are half the "
            + "error.",
        "AuC":
            "The area under the curve of the share of pixels within each distance of their colors; "
            + "higher is better, 1 is perfect. Rebalanced: rare colors weigh as much as frequent "
            + "ones.",
        "colorfulness":
            "How vivid an image is (Hasler and Süsstrunk); best as high as that of the photos.",
        "gradient norm": "The length of the gradient before it is clipped.",
        "better than gray": "The share of photos whose ΔE2000 is lower than that of a gray copy.",
    ]
}
