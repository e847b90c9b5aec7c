import ArgumentParser
import Retint

/// What a model must hold; what is not given is as usual for its precision.
struct BoundOptions: ParsableArguments {
    @Option(help: "How far any number may be off.")
    var atol: Double?

    @Option(help: "How far any number may be off, relative to what is expected; adds to --atol.")
    var rtol: Double?

    @Option(help: "How far numbers may be off on the mean.")
    var maxMean: Double?

    @Option(name: .customLong("min-psnr"), help: "The least PSNR of every output, in dB.")
    var minPSNR: Double?

    @Option(name: .customLong("min-snr"), help: "The least SNR of every output, in dB.")
    var minSNR: Double?

    @Option(name: .customLong("max-delta-e"), help: "The greatest mean ΔE2000 of the colors.")
    var maxDeltaE: Double?

    @Option(
        name: .customLong("layer-tolerance"),
        help: """
            How far what is computed on the way may be off, relative to the largest number \
            expected; the model fails if some of it is farther off.
            """)
    var maxLayerError: Double?

    @Option(
        name: .customLong("layer-min-snr"),
        help: "The least SNR of what is computed on the way, in dB; decides likewise.")
    var layerMinSNR: Double?

    func validate() throws {
        let distances = [
            ("--atol", atol), ("--rtol", rtol), ("--max-mean", maxMean),
            ("--max-delta-e", maxDeltaE), ("--layer-tolerance", maxLayerError),
        ]
        for (name, value) in distances {
            guard let value, !(value >= 0) else { continue }
            throw ValidationError("\(name) is \(value); give a number from 0")
        }
        let ratios = [
            ("--min-psnr", minPSNR), ("--min-snr", minSNR), ("--layer-min-snr", layerMinSNR),
        ]
        for (name, value) in ratios where value?.isNaN == true {
            throw ValidationError("\(name) is not a number")
        }
    }

    /// The bounds of outputs and colors that are given.
    var tolerance: Tolerance {
        Tolerance(
            atol: atol, rtol: rtol, meanAbs: maxMean, minPSNR: minPSNR, minSNR: minSNR,
            meanDeltaE: maxDeltaE)
    }

    /// Nil where none is given.
    var layerTolerance: LayerTolerance? {
        guard maxLayerError != nil || layerMinSNR != nil else { return nil }
        return LayerTolerance(maxRelative: maxLayerError, minSNR: layerMinSNR)
    }
}
