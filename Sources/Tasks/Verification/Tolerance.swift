import RetintRuntime

/// How many times what float32 itself loses a correct model may be off: nearly twice as much as the
/// worst of the correct exports in the article "What verification finds".
private let standardRoundingRatio = 4.0
/// The same where the expected values were computed by another framework, which orders its sums
/// otherwise and approximates other functions.
private let otherEngineRoundingRatio = 16.0
/// How many times what half precision loses a correct float16 model may be off.
private let standardHalfRatio = 8.0

/// The bounds that a model's outputs must meet; a bound that is nil is not checked.
public struct Tolerance: Hashable, Sendable {
    /// The absolute part of the bound |c − e| ≤ atol + rtol·|e| on each value.
    public var atol: Double?
    /// The relative part of the bound |c − e| ≤ atol + rtol·|e| on each value.
    public var rtol: Double?
    /// The largest |c − e| of an output, relative to its largest |e|; not checked where
    /// ``maxRoundingRatio`` is.
    public var maxRelative: Double?
    /// The largest mean |c − e| of an output.
    public var meanAbs: Double?
    /// The lowest PSNR of an output, in dB.
    public var minPSNR: Double?
    /// The lowest SNR of an output, in dB.
    public var minSNR: Double?
    /// The largest mean CIEDE2000 difference of the colors.
    public var meanDeltaE: Double?
    /// The largest root mean square error of an output, as a multiple of the error of the reference
    /// network's own run in half precision; of the model's own, where the expected values are
    /// those of a file.
    public var maxHalfRatio: Double?
    /// The largest root mean square error of an output, as a multiple of what float32 itself loses:
    /// of the difference of the reference network's runs in float32 and in float64; of the model's
    /// own, where the expected values are those of a file.
    public var maxRoundingRatio: Double?

    /// Creates bounds; those that are nil are not checked.
    public init(
        atol: Double? = nil, rtol: Double? = nil, maxRelative: Double? = nil,
        meanAbs: Double? = nil, minPSNR: Double? = nil, minSNR: Double? = nil,
        meanDeltaE: Double? = nil, maxHalfRatio: Double? = nil, maxRoundingRatio: Double? = nil
    ) {
        self.atol = atol
        self.rtol = rtol
        self.maxRelative = maxRelative
        self.meanAbs = meanAbs
        self.minPSNR = minPSNR
        self.minSNR = minSNR
        self.meanDeltaE = meanDeltaE
        self.maxHalfRatio = maxHalfRatio
        self.maxRoundingRatio = maxRoundingRatio
    }

    /// The default bounds for a model with weights of a given precision.
    ///
    /// The bounds in float32 follow from what float32 itself loses, and those in float16 from what
    /// half precision loses. Beside them, those of colors are in the units of a and b, and any
    /// other output has the bounds of intermediate values, which are relative to the expected
    /// values: see ``LayerTolerance/standard(_:measuresRounding:)``.
    ///
    /// - Parameters:
    ///   - precision: the precision of the model's weights.
    ///   - isSameNetwork: whether the expected values come from the checkpoint that the model was
    ///     exported from, run by the same engine, and not from another framework.
    ///   - isColorizer: whether the outputs are a and b.
    ///   - measuresRounding: see
    ///     ``VerificationBounds/standard(_:compute:isSameNetwork:isColorizer:measuresRounding:)``.
    public static func standard(
        _ precision: ModelPrecision, isSameNetwork: Bool, isColorizer: Bool = true,
        measuresRounding: Bool = true
    ) -> Tolerance {
        var result = fixed(
            precision, isSameNetwork: isSameNetwork, isColorizer: isColorizer)
        guard measuresRounding else { return result }
        switch precision {
        case .float32 where isSameNetwork && isColorizer:
            return Tolerance(minPSNR: 120, maxRoundingRatio: standardRoundingRatio)
        case .float32:
            result.maxRoundingRatio =
                isSameNetwork ? standardRoundingRatio : otherEngineRoundingRatio
        case .float16: result.maxHalfRatio = standardHalfRatio
        case .quantized: break
        }
        return result
    }

    /// The default bounds where it is not known what an arithmetic loses.
    private static func fixed(
        _ precision: ModelPrecision, isSameNetwork: Bool, isColorizer: Bool
    ) -> Tolerance {
        guard isColorizer else {
            let relative = LayerTolerance.standard(precision)
            return Tolerance(maxRelative: relative.maxRelative, minSNR: relative.minSNR)
        }
        switch precision {
        case .float32 where isSameNetwork: return Tolerance(atol: 1e-4, rtol: 1e-5)
        case .float32: return Tolerance(atol: 0.01, rtol: 0, meanAbs: 0.001)
        case .float16: return Tolerance(minPSNR: 60)
        case .quantized: return Tolerance(minPSNR: 38, meanDeltaE: 1)
        }
    }

    /// These bounds, overridden by those of `overrides` that are not nil.
    ///
    /// Overriding atol or rtol also drops the bounds on the mean and on the relative error.
    /// Overriding the PSNR also drops those on the SNR and on the color difference. Overriding any
    /// bound on an error drops the one relative to what float32 loses, and the PSNR that comes with
    /// it, and the one relative to what half precision loses, unless that is the only bound. Each
    /// is kept if `overrides` also sets it.
    public func replacing(with overrides: Tolerance) -> Tolerance {
        var result = self
        if maxRoundingRatio != nil, !overrides.withoutColors.isEmpty {
            (result.maxRoundingRatio, result.minPSNR) = (nil, nil)
        }
        if supplementsByHalf, !overrides.withoutColors.isEmpty { result.maxHalfRatio = nil }
        if overrides.boundsEachValue { (result.meanAbs, result.maxRelative) = (nil, nil) }
        if overrides.minPSNR != nil { (result.meanDeltaE, result.minSNR) = (nil, nil) }
        result.atol = overrides.atol ?? atol
        result.rtol = overrides.rtol ?? rtol
        result.maxRelative = overrides.maxRelative ?? result.maxRelative
        result.meanAbs = overrides.meanAbs ?? result.meanAbs
        result.minPSNR = overrides.minPSNR ?? result.minPSNR
        result.minSNR = overrides.minSNR ?? result.minSNR
        result.meanDeltaE = overrides.meanDeltaE ?? result.meanDeltaE
        result.maxHalfRatio = overrides.maxHalfRatio ?? result.maxHalfRatio
        result.maxRoundingRatio = overrides.maxRoundingRatio ?? result.maxRoundingRatio
        return result
    }

    /// The same bounds but for that on the color difference.
    private var withoutColors: Tolerance {
        var result = self
        result.meanDeltaE = nil
        return result
    }

    /// Whether the bound relative to what half precision loses comes beside a fixed one, which
    /// decides where that is not known.
    var supplementsByHalf: Bool { maxHalfRatio != nil && (minSNR != nil || minPSNR != nil) }

    /// The bounds for any legal arithmetic, some of which lose more than the one in which half
    /// precision was measured.
    var ofAnyArithmetic: Tolerance {
        var result = self
        if supplementsByHalf { result.maxHalfRatio = nil }
        return result
    }

    /// Whether there is a bound on each value.
    var boundsEachValue: Bool { atol != nil || rtol != nil }

    /// Whether no output can fail because there are no bounds on outputs.
    public var isEmpty: Bool {
        !boundsEachValue && maxRelative == nil && meanAbs == nil && minPSNR == nil && minSNR == nil
            && maxHalfRatio == nil && maxRoundingRatio == nil
    }
}

extension Tolerance: CustomStringConvertible {
    /// The bounds, separated by commas: `PSNR ≥ 38 dB, mean ΔE2000 ≤ 1`.
    public var description: String {
        var bounds: [String] = []
        if boundsEachValue {
            bounds.append("|error| ≤ \(plain(atol ?? 0)) + \(plain(rtol ?? 0))·|expected|")
        }
        if let maxRelative { bounds.append(relativeBound(maxRelative)) }
        if let meanAbs { bounds.append("mean |error| ≤ \(plain(meanAbs))") }
        if let minPSNR { bounds.append("PSNR ≥ \(plain(minPSNR)) dB") }
        if let minSNR { bounds.append("SNR ≥ \(plain(minSNR)) dB") }
        if let meanDeltaE { bounds.append("mean ΔE2000 ≤ \(plain(meanDeltaE))") }
        if let maxHalfRatio {
            bounds.append("RMS |error| ≤ \(plain(maxHalfRatio)) × that of half precision")
        }
        if let maxRoundingRatio { bounds.append(roundingBound(maxRoundingRatio)) }
        return bounds.joined(separator: ", ")
    }
}

extension Tolerance: Codable {
    private enum CodingKeys: String, CodingKey {
        case atol, rtol, maxHalfRatio, maxRoundingRatio
        case maxRelative = "maxRelativeError"
        case meanAbs = "maxMeanAbsError"
        case minPSNR = "minPsnrDb"
        case minSNR = "minSnrDb"
        case meanDeltaE = "maxMeanDeltaE2000"
    }
}

/// The bound on an error relative to the largest expected value, as text.
private func relativeBound(_ bound: Double) -> String {
    "max |error| / max |expected| ≤ \(plain(bound))"
}

/// The bound on an error relative to what float32 loses, as text.
private func roundingBound(_ bound: Double) -> String {
    "RMS |error| ≤ \(plain(bound)) × that of float32"
}

/// The bounds on intermediate values; a bound that is nil is not checked.
public struct LayerTolerance: Hashable, Sendable {
    /// The largest error relative to the largest expected magnitude; not checked where
    /// ``maxRoundingRatio`` is.
    public var maxRelative: Double?
    /// The lowest SNR, in dB.
    public var minSNR: Double?
    /// The largest root mean square error, as a multiple of what float32 itself loses; checked
    /// where that was measured.
    public var maxRoundingRatio: Double?

    /// Creates bounds; those that are nil are not checked.
    public init(
        maxRelative: Double? = nil, minSNR: Double? = nil, maxRoundingRatio: Double? = nil
    ) {
        self.maxRelative = maxRelative
        self.minSNR = minSNR
        self.maxRoundingRatio = maxRoundingRatio
    }

    /// The default bounds for a model with weights of a given precision.
    ///
    /// They allow for typical errors: the SNR of a network of sixty operations is about 40 dB in
    /// half precision, and about 25 dB with 8-bit weights.
    ///
    /// - Parameters:
    ///   - precision: the precision of the model's weights.
    ///   - measuresRounding: whether it is known what float32 itself loses.
    public static func standard(
        _ precision: ModelPrecision, measuresRounding: Bool = false
    ) -> LayerTolerance {
        switch precision {
        case .float32 where measuresRounding:
            LayerTolerance(maxRelative: 1e-4, maxRoundingRatio: standardRoundingRatio)
        case .float32: LayerTolerance(maxRelative: 1e-4)
        case .float16: LayerTolerance(minSNR: 30)
        case .quantized: LayerTolerance(minSNR: 15)
        }
    }
}

extension LayerTolerance: CustomStringConvertible {
    /// The bounds, separated by commas: `SNR ≥ 30 dB`.
    public var description: String {
        var bounds: [String] = []
        if let maxRelative { bounds.append(relativeBound(maxRelative)) }
        if let minSNR { bounds.append("SNR ≥ \(plain(minSNR)) dB") }
        if let maxRoundingRatio { bounds.append(roundingBound(maxRoundingRatio)) }
        return bounds.joined(separator: ", ")
    }
}

extension LayerTolerance: Codable {
    private enum CodingKeys: String, CodingKey {
        case maxRoundingRatio
        case maxRelative = "maxRelativeError"
        case minSNR = "minSnrDb"
    }
}
