import RetintRuntime

/// The bounds of a verification, and which of them can fail a model.
public struct VerificationBounds: Hashable, Sendable {
    /// The bounds on outputs and colors.
    public var tolerance: Tolerance
    /// The bounds on intermediate values.
    public var layerTolerance: LayerTolerance
    /// Whether an intermediate value that exceeds its tolerance fails the model.
    public var layersDecide: Bool

    /// Creates bounds.
    public init(tolerance: Tolerance, layerTolerance: LayerTolerance, layersDecide: Bool = false) {
        self.tolerance = tolerance
        self.layerTolerance = layerTolerance
        self.layersDecide = layersDecide
    }

    /// The default bounds.
    ///
    /// - Parameters:
    ///   - precision: the precision of the model's weights.
    ///   - compute: the arithmetic; nil for the model's own.
    ///   - isSameNetwork: whether the expected values come from another model, run by the same
    ///     engine, rather than from a file.
    ///   - isColorizer: whether the outputs are a and b.
    ///   - measuresRounding: whether bounds may be relative to what float32 or half precision
    ///     itself loses, which takes more runs.
    public static func standard(
        _ precision: ModelPrecision, compute: ComputePrecision?, isSameNetwork: Bool,
        isColorizer: Bool = true, measuresRounding: Bool = true
    ) -> VerificationBounds {
        let isCoarser = compute == .float16 && precision == .float32
        let precision = isCoarser ? .float16 : precision
        let measures = measuresRounding && isSameNetwork && precision == .float32
        return VerificationBounds(
            tolerance: .standard(
                precision, isSameNetwork: isSameNetwork, isColorizer: isColorizer,
                measuresRounding: measuresRounding),
            layerTolerance: .standard(precision, measuresRounding: measures),
            layersDecide: measures)
    }
}

extension VerificationBounds {
    /// Whether bounds follow from what float32 loses.
    public var needsRounding: Bool {
        tolerance.maxRoundingRatio != nil || layerTolerance.maxRoundingRatio != nil
    }

    /// Whether a changed weight fails the model.
    var judgesWeights: Bool { layersDecide && needsRounding }
}

extension VerificationReport {
    /// The bounds that the model was checked against.
    public var bounds: VerificationBounds {
        VerificationBounds(
            tolerance: tolerance, layerTolerance: layerTolerance, layersDecide: layersDecide)
    }

    /// The same measurements, checked against other bounds. There are no bounds on intermediate
    /// values for Apple's runtime, which does not expose them.
    public func judged(by bounds: VerificationBounds) -> VerificationReport {
        VerificationReport(
            judge: judge, runtime: runtime, model: model, reference: reference,
            isSameNetwork: isSameNetwork, isColorizer: isColorizer, precision: precision,
            compute: compute, tolerance: bounds.tolerance,
            outputs: outputs.map { $0.judged(by: bounds.tolerance) }, color: color,
            photos: photos, layers: layers.map { $0.judged(by: bounds.layerTolerance) },
            layerTolerance: bounds.layerTolerance,
            layersDecide: bounds.layersDecide && judge.exposesLayers,
            changedWeights: bounds.judgesWeights ? changedWeights : [],
            changedLabels: changedLabels,
            diagnosis: diagnosis.judged(by: bounds.tolerance))
    }
}
