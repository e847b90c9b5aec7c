import Models

/// What a model must hold to pass; a bound that is nil is not asked for.
public struct Tolerance: Hashable, Sendable {
    /// Every |c − e| ≤ atol + rtol·|e|.
    public var atol: Double?
    public var rtol: Double?
    public var meanAbs: Double?
    /// In dB.
    public var minPSNR: Double?
    /// In dB.
    public var minSNR: Double?
    /// Mean CIEDE2000 of the colors.
    public var meanDeltaE: Double?

    public init(
        atol: Double? = nil, rtol: Double? = nil, meanAbs: Double? = nil,
        minPSNR: Double? = nil, minSNR: Double? = nil, meanDeltaE: Double? = nil
    ) {
        self.atol = atol
        self.rtol = rtol
        self.meanAbs = meanAbs
        self.minPSNR = minPSNR
        self.minSNR = minSNR
        self.meanDeltaE = meanDeltaE
    }

    /// What is asked of a model of that precision where nobody asks for more or less.
    ///
    /// - Parameter isSameNetwork: whether the expected values come from the very checkpoint that
    ///   the model was made of, run by the same engine, rather than from another framework.
    public static func standard(_ precision: ModelPrecision, isSameNetwork: Bool) -> Tolerance {
        switch precision {
        case .float32 where isSameNetwork: Tolerance(atol: 1e-4, rtol: 1e-5)
        case .float32: Tolerance(atol: 0.01, rtol: 0, meanAbs: 0.001)
        case .float16: Tolerance(minPSNR: 60)
        case .quantized: Tolerance(minPSNR: 38, meanDeltaE: 1)
        }
    }

    /// The bounds with those that were asked for in their place. Who says how far single numbers
    /// may be off also says how far they may be off on the mean, and who says a PSNR also says how
    /// far colors may be off, unless these are said too.
    public func replacing(with asked: Tolerance) -> Tolerance {
        var result = self
        if asked.boundsNumbers { result.meanAbs = nil }
        if asked.minPSNR != nil { result.meanDeltaE = nil }
        result.atol = asked.atol ?? atol
        result.rtol = asked.rtol ?? rtol
        result.meanAbs = asked.meanAbs ?? result.meanAbs
        result.minPSNR = asked.minPSNR ?? minPSNR
        result.minSNR = asked.minSNR ?? minSNR
        result.meanDeltaE = asked.meanDeltaE ?? result.meanDeltaE
        return result
    }

    /// Whether single numbers have a bound.
    private var boundsNumbers: Bool { atol != nil || rtol != nil }

    /// Whether there is nothing that an output could fail.
    public var isEmpty: Bool {
        !boundsNumbers && meanAbs == nil && minPSNR == nil && minSNR == nil
    }

    /// How many numbers are farther off than they may be.
    public func violations(computed: [Float], expected: [Float]) -> Int {
        guard boundsNumbers else { return 0 }
        let (atol, rtol) = (atol ?? 0, rtol ?? 0)
        return zip(computed, expected).count { c, e in
            // What is not a number holds no bound.
            !(abs(Double(c) - Double(e)) <= atol + rtol * abs(Double(e)))
        }
    }
}

extension Tolerance: CustomStringConvertible {
    public var description: String {
        var bounds: [String] = []
        if boundsNumbers { bounds.append("|error| ≤ \(atol ?? 0) + \(rtol ?? 0)·|expected|") }
        if let meanAbs { bounds.append("mean |error| ≤ \(meanAbs)") }
        if let minPSNR { bounds.append("PSNR ≥ \(minPSNR) dB") }
        if let minSNR { bounds.append("SNR ≥ \(minSNR) dB") }
        if let meanDeltaE { bounds.append("mean ΔE2000 ≤ \(meanDeltaE)") }
        return bounds.joined(separator: ", ")
    }
}

extension Tolerance: Encodable {
    private enum CodingKeys: String, CodingKey {
        case atol, rtol
        case meanAbs = "maxMeanAbsError"
        case minPSNR = "minPsnrDb"
        case minSNR = "minSnrDb"
        case meanDeltaE = "maxMeanDeltaE2000"
    }
}

/// How far what a model computes on the way may be off before it counts as where error arises.
public struct LayerTolerance: Hashable, Sendable {
    /// The largest error relative to the largest number expected.
    public var maxRelative: Double?
    /// In dB.
    public var minSNR: Double?

    public init(maxRelative: Double? = nil, minSNR: Double? = nil) {
        self.maxRelative = maxRelative
        self.minSNR = minSNR
    }

    /// What is usual for a model of that precision. A network of sixty operations in half precision
    /// keeps some 40 dB, one with weights of 8 bits some 25.
    public static func standard(_ precision: ModelPrecision) -> LayerTolerance {
        switch precision {
        case .float32: LayerTolerance(maxRelative: 1e-4)
        case .float16: LayerTolerance(minSNR: 30)
        case .quantized: LayerTolerance(minSNR: 15)
        }
    }

    /// Whether sums of errors hold the bounds; what is not a number does not.
    func holds(_ sums: ErrorSums) -> Bool {
        guard sums.isFinite else { return false }
        if let maxRelative, !(sums.relative <= maxRelative) { return false }
        if let minSNR, !(sums.snr >= minSNR) { return false }
        return true
    }
}

extension LayerTolerance: CustomStringConvertible {
    public var description: String {
        var bounds: [String] = []
        if let maxRelative { bounds.append("max |error| / max |expected| ≤ \(maxRelative)") }
        if let minSNR { bounds.append("SNR ≥ \(minSNR) dB") }
        return bounds.joined(separator: ", ")
    }
}

extension LayerTolerance: Encodable {
    private enum CodingKeys: String, CodingKey {
        case maxRelative = "maxRelativeError"
        case minSNR = "minSnrDb"
    }
}
