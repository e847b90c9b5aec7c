import RetintColor
import RetintImages

/// The quality of one image, and its contributions to the quality of several.
struct ImageQuality: Sendable, Codable {
    private(set) var quality: EvaluationReport.ColorQuality
    /// The errors by color, for ``EvaluationReport/ColorQuality/abAucRebalanced``.
    let balance: BalancedABErrors
    /// The errors of groups of pixels, for ``EvaluationReport/ColorQuality/pooled``.
    let groups: ABGroupErrors
    /// The errors of skin, for ``EvaluationReport/ColorQuality/skin``; nil if it is not measured.
    let skin: SkinErrors?

    /// Compares a colored image with the original.
    ///
    /// - Parameters:
    ///   - reference: the original in CIELAB.
    ///   - edgeReach: the distance up to which a pixel is near an edge; nil to omit edges.
    ///   - skinRegions: where skin is measured; nil: nowhere.
    /// - Throws: `ColorScienceError` if their sizes differ.
    init(
        _ image: Image, original: Image, reference: LabPlanes, edgeReach: Int? = nil,
        skinRegions: SkinRegions? = nil
    ) throws {
        let estimate = lab(fromRGB: image.pixels)
        var (errors, balance, groups) = (ABErrors(), BalancedABErrors(), ABGroupErrors())
        try errors.add(reference: reference, estimate: estimate)
        try balance.add(reference: reference, estimate: estimate)
        try groups.add(reference: reference, estimate: estimate)
        let apart = try ChromaHueErrors(reference: reference, estimate: estimate)
        var quality = EvaluationReport.ColorQuality()
        quality.psnrDb = min(
            try psnr(image.pixels, original.pixels), EvaluationReport.ColorQuality.highestPSNR)
        quality.deltaE2000 = try meanDeltaE2000(reference, estimate)
        quality.colorfulness = try RetintColor.colorfulness(ofRGB: image.pixels)
        quality.colorfulnessBias =
            quality.colorfulness - (try RetintColor.colorfulness(ofRGB: original.pixels))
        quality.basicSRColorfulness = try RetintColor.basicSRColorfulness(ofRGB: image.pixels)
        quality.basicSRColorfulnessBias =
            quality.basicSRColorfulness
            - (try RetintColor.basicSRColorfulness(ofRGB: original.pixels))
        quality.colorfulnessDifference = abs(quality.colorfulnessBias)
        (quality.chromaError, quality.chromaBias) = (apart.chroma, apart.chromaBias)
        quality.hueError = apart.hue
        var skin = skinRegions.map { _ in SkinErrors() }
        try skin?.add(
            original: original.pixels, reference: reference, estimate: estimate,
            width: original.width,
            in: skinRegions?.pixels(width: original.width, height: original.height))
        quality.setPooled(groups, skin)
        quality.abError = errors.mean
        quality.abAuc = errors.areaUnderCurve
        quality.abAucRebalanced = balance.areaUnderCurve
        if min(image.width, image.height) >= 7 {
            quality.ssim = try structuralSimilarity(
                image.pixels, original.pixels, width: image.width, height: image.height)
        }
        if let edgeReach {
            let edges = try ABEdgeErrors(
                reference: reference, estimate: estimate, width: image.width, height: image.height,
                reach: edgeReach)
            (quality.abErrorAtEdges, quality.abErrorElsewhere) = (edges.atEdges, edges.elsewhere)
        }
        (self.quality, self.balance, self.groups) = (quality, balance, groups)
        self.skin = skin
    }

    /// Records whether the colors are better than no colors.
    mutating func compare(withGray gray: ImageQuality) {
        quality.betterThanGray = quality.deltaE2000 < gray.quality.deltaE2000 ? 1 : 0
    }
}

extension EvaluationReport.ColorQuality {
    /// The quality of several images together; nil if there are no images.
    init?(_ images: [ImageQuality]) {
        guard !images.isEmpty else { return nil }
        self.init()
        for path in Self.means {
            let sum = images.reduce(0) { $0 + $1.quality[keyPath: path] }
            self[keyPath: path] = sum / Double(images.count)
        }
        for path in Self.optionalMeans {
            let values = images.compactMap { $0.quality[keyPath: path] }
            if !values.isEmpty { self[keyPath: path] = values.reduce(0, +) / Double(values.count) }
        }
        var (balance, groups) = (BalancedABErrors(), ABGroupErrors())
        let skin = images.compactMap(\.skin).reduce(into: SkinErrors()) { $0.add($1) }
        for image in images {
            balance.add(image.balance)
            groups.add(image.groups)
        }
        abAucRebalanced = balance.areaUnderCurve
        setPooled(groups, skin)
    }

    fileprivate mutating func setPooled(_ groups: ABGroupErrors, _ skin: SkinErrors?) {
        hueAngleError = groups.hueAngle
        let errors = groups.errorsByLightness
        abErrorByLightness = ByLightness(
            darkest: errors[0], dark: errors[1], light: errors[2], lightest: errors[3])
        let gray = groups.nearGray
        nearGray = NearGray(chroma: gray?.chroma, a: gray?.a, b: gray?.b)
        guard let skin else { return }
        for tone in SkinTone.allCases {
            self.skin[keyPath: BySkinTone.path(tone)] = skin.deltaE2000(of: tone)
        }
    }
}

extension EvaluationReport.ColorQuality.BySkinTone {
    fileprivate static func path(_ tone: SkinTone) -> WritableKeyPath<Self, Double?> {
        switch tone {
        case .veryLight: \.veryLight
        case .light: \.light
        case .intermediate: \.intermediate
        case .tan: \.tan
        case .brown: \.brown
        case .dark: \.dark
        }
    }
}
