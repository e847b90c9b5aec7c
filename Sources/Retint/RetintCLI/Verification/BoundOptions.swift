import ArgumentParser
import Retint

/// The tolerance of a verification; the defaults depend on the precision.
struct BoundOptions: ParsableArguments {
    @Option(
        help: """
            The kind of the default bounds: fixed; or half, which allows a root mean square error \
            of each output of --half-factor times that of the reference network run in half \
            precision (needs --against). Without it, a float32 model is bounded by what float32 \
            itself loses, as measured by one run in float64, and a float16 model by what half \
            precision loses, beside a fixed bound: in the reference network, or in the model \
            itself if it is compared with a file.
            """)
    var bound: BoundKind?

    @Option(
        help: .rare("The factor of --bound half; default: 2.", valueName: "factor"))
    var halfFactor: Double?

    @Option(help: "The largest absolute error.")
    var atol: Double?

    @Option(help: "The largest error relative to the expected value; adds to --atol.")
    var rtol: Double?

    @Option(
        help: .rare(
            "The largest error of an output, relative to its largest expected value.",
            valueName: "share"))
    var maxRelative: Double?

    @Option(help: .rare("The largest mean absolute error."))
    var maxMean: Double?

    @Option(name: .customLong("min-psnr"), help: "The lowest PSNR of each output in dB.")
    var minPSNR: Double?

    @Option(name: .customLong("min-snr"), help: "The lowest SNR of each output in dB.")
    var minSNR: Double?

    @Option(name: .customLong("max-delta-e"), help: "The largest mean ΔE2000 of the colors.")
    var maxDeltaE: Double?

    @Option(
        name: .customLong("layer-tolerance"),
        help: .rare(
            """
            The largest error of intermediate values, relative to the largest expected value; \
            the model fails if one exceeds it.
            """))
    var maxLayerError: Double?

    @Option(
        name: .customLong("layer-min-snr"),
        help: .rare(
            "The lowest SNR of intermediate values in dB; the model fails if one is below it."))
    var layerMinSNR: Double?

    func validate() throws {
        let distances = [
            ("--atol", atol), ("--rtol", rtol), ("--max-relative", maxRelative),
            ("--max-mean", maxMean),
            ("--max-delta-e", maxDeltaE), ("--layer-tolerance", maxLayerError),
            ("--half-factor", halfFactor),
        ]
        guard halfFactor == nil || bound == .half else {
            throw ValidationError("--half-factor needs --bound half")
        }
        for (name, value) in distances {
            guard let value, !(value >= 0) else { continue }
            throw ValidationError("\(name) \(value): must not be negative")
        }
        let ratios = [
            ("--min-psnr", minPSNR), ("--min-snr", minSNR), ("--layer-min-snr", layerMinSNR),
        ]
        for (name, value) in ratios where value?.isNaN == true {
            throw ValidationError("\(name): must be a number")
        }
    }

    /// Whether there is a bound.
    var areGiven: Bool { bound != nil || tolerance != Tolerance() || layerTolerance != nil }

    /// Whether the default bounds may be relative to what an arithmetic itself loses.
    var measuresRounding: Bool { bound == nil }

    /// Whether there is a bound on intermediate values.
    var boundsLayers: Bool { layerTolerance != nil }

    /// The given bounds, and defaults for those that are not given.
    func replacing(_ others: VerificationBounds) -> VerificationBounds {
        let outputs = (half ?? others.tolerance).replacing(with: tolerance)
        let keepsDefaults = outputs.maxRoundingRatio != nil && layerTolerance == nil
        return VerificationBounds(
            tolerance: outputs, layerTolerance: layerTolerance ?? others.layerTolerance,
            layersDecide: layerTolerance != nil || keepsDefaults && others.layersDecide)
    }

    /// The default bounds of `--bound half`.
    private var half: Tolerance? {
        bound == .half ? Tolerance(maxHalfRatio: halfFactor ?? 2) : nil
    }

    /// The given bounds of outputs and colors.
    private var tolerance: Tolerance {
        Tolerance(
            atol: atol, rtol: rtol, maxRelative: maxRelative, meanAbs: maxMean, minPSNR: minPSNR,
            minSNR: minSNR, meanDeltaE: maxDeltaE)
    }

    /// The given bounds of intermediate values; nil if there are none.
    private var layerTolerance: LayerTolerance? {
        guard maxLayerError != nil || layerMinSNR != nil else { return nil }
        return LayerTolerance(maxRelative: maxLayerError, minSNR: layerMinSNR)
    }
}

/// The kind of the default bounds.
enum BoundKind: String, ExpressibleByArgument, CaseIterable {
    /// Numbers that follow from the precision.
    case fixed
    /// A multiple of the error of half precision.
    case half
}
