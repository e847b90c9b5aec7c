import ArgumentParser
import ColorScience
import ImageIO
import Layers
import TensorGraph
import Verification

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare what a model gives with a reference.",
        discussion: """
            The model is read back from disk and run on the reference's inputs; every output is \
            compared. Exit code 0: all bounds hold; 2: one does not; 65: there is nothing to \
            compare, or names or shapes do not fit.

            Bounds, unless others are given. Float32: |error| at most 0.01, on the mean 0.001, \
            against a reference file; 1e-4 + 1e-5·|expected| against a checkpoint. Float16: PSNR \
            60 dB. Quantized weights: PSNR 38 dB and mean ΔE2000 1. PSNR has its peak at 220 for \
            ab. --atol and --rtol replace the bound on the mean too, --min-psnr that on ΔE2000.

            The model runs on retint's own engine, not on Apple's runtime.
            """)

    @Argument(help: "A checkpoint or a package.")
    var model: String

    @Option(
        help: ArgumentHelp(
            "An HDF5 file with inputs/<name> and outputs/<name>.", valueName: "ref.h5"))
    var reference: String?

    @Option(
        help: ArgumentHelp(
            "Compare with this model, run in float32, instead of a file.", valueName: "model"))
    var against: String?

    @OptionGroup var lightness: LightnessOptions

    @Option(help: "How far any number may be off.")
    var atol: Double?

    @Option(help: "How far any number may be off, relative to what is expected; adds to --atol.")
    var rtol: Double?

    @Option(name: .customLong("min-psnr"), help: "The least PSNR of every output, in dB.")
    var minPSNR: Double?

    @Option(help: "The arithmetic: float32 or float16, where every result is rounded.")
    var compute: ComputePrecision?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (reference == nil) != (against == nil) else {
            throw ValidationError("give either --reference or --against")
        }
        guard against != nil || !lightness.isGiven else {
            throw ValidationError("--photo, --size and --seed go with --against")
        }
        for (name, value) in [("--atol", atol), ("--rtol", rtol)] {
            guard let value, !(value >= 0) else { continue }
            throw ValidationError("\(name) is \(value); give a number from 0")
        }
        if let minPSNR, minPSNR.isNaN { throw ValidationError("--min-psnr is not a number") }
    }

    func run() throws {
        let model = try VerifiedModel(contentsOf: model)
        let bounds = Tolerance.standard(
            compute == .float16 && model.precision == .float32 ? .float16 : model.precision,
            isSameNetwork: against != nil)
        let report = try verify(
            model, against: expected(of: model), compute: compute,
            tolerance: bounds.replacing(atol: atol, rtol: rtol, minPSNR: minPSNR))
        if json {
            try Console.printJSON(report)
        } else {
            for line in report.lines { Console.print(line) }
        }
        guard report.passed else { throw Outcome.toleranceExceeded.exit }
    }

    private func expected(of model: VerifiedModel) throws -> Reference {
        guard let against else { return try Reference(contentsOf: reference ?? "") }
        let input = try lightness.tensor(shape: model.lightnessShape())
        return try Reference(running: VerifiedModel(contentsOf: against), on: input)
    }
}

/// What two models are compared on.
struct LightnessOptions: ParsableArguments {
    @Option(
        name: .customLong("photo"),
        help: ArgumentHelp(
            "A photo to compare on, instead of random lightness; may be given again.",
            valueName: "file"))
    var photos: [String] = []

    @Option(help: "The side of the square to compare on; the model's own, or 256.")
    var size: Int?

    @Option(help: "Seed of the random lightness (0).")
    var seed: UInt64?

    var isGiven: Bool { !photos.isEmpty || size != nil || seed != nil }

    func validate() throws {
        if let size, !(1...16384).contains(size) {
            throw ValidationError("--size is \(size); give a number from 1 to 16384")
        }
    }

    /// L of the photos, resized, or of one picture of noise.
    func tensor(shape: Shape) throws -> TensorData {
        var shape = shape
        if let size { (shape[2], shape[3]) = (size, size) }
        guard !photos.isEmpty else { return noise(shape) }
        shape[0] = photos.count
        let planes = try photos.map { path in
            let photo = try Image(contentsOf: path).resized(to: shape[3], height: shape[2])
            return lab(fromRGB: photo.pixels).l
        }
        return TensorData(shape: shape, scalars: planes.flatMap { $0 })
    }

    private func noise(_ shape: Shape) -> TensorData {
        var random = RandomStream(seed: seed ?? 0, name: "lightness")
        let scalars = (0..<shape.count).map { _ in Float(100 * random.uniform()) }
        return TensorData(shape: shape, scalars: scalars)
    }
}

extension ComputePrecision: ExpressibleByArgument {}

extension VerificationError: OutcomeError {
    package var outcome: Outcome { .badInput }
}

extension VerificationReport {
    /// The table and what follows from it.
    fileprivate var lines: [String] {
        let header = [
            "output", "shape", "max |e|", "mean |e|", "max rel", "PSNR dB", "SNR dB", "cosine", "",
        ]
        var table = TextTable(header: header, rightAligned: [2, 3, 4, 5, 6, 7])
        for output in outputs { table.append(row(output)) }
        let color = color.map {
            ["ΔE2000: mean \(Format.fixed($0.mean, 5)), p99 \(Format.fixed($0.percentile99, 5))"]
        }
        let failures = outputs.flatMap { output in output.failures.map { "\(output.name): \($0)" } }
        return ["\(model) (\(precision)) against \(reference)"] + table.lines + (color ?? [])
            + ["tolerance: \(tolerance)"] + failures + colorFailures
            + ["computed in \(compute) by \(Self.runtime)", passed ? "passed" : "FAILED"]
    }

    private func row(_ output: OutputComparison) -> [String] {
        let metrics = output.metrics
        return [
            output.name, "\(Shape(output.shape))", Format.significant(metrics.maxAbs),
            Format.significant(metrics.meanAbs), Format.significant(metrics.maxRelative),
            Format.fixed(metrics.psnr, 2), Format.fixed(metrics.snr, 2),
            Format.fixed(metrics.cosine, 9), output.failures.isEmpty ? "ok" : "FAILED",
        ]
    }
}
