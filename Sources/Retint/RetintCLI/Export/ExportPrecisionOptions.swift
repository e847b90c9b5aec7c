import ArgumentParser
import Retint

/// The arithmetic of the package.
struct ExportPrecisionOptions: ParsableArguments {
    @Option(
        help: "The arithmetic and the weights of the program: float32 or float16; default: float32."
    )
    var precision: ExportOptions.Precision?

    @Option(
        name: .customLong("keep-float32"),
        help: ArgumentHelp(
            """
            Operations of a float16 program to keep in float32, by name: module path and \
            operation, with * and ?, as in 'model8.*'. Repeatable.
            """, valueName: "pattern"))
    var names: [String] = []

    @Option(
        name: .customLong("keep-float32-types"),
        help: ArgumentHelp(
            "The same by type, comma-separated: softmax,upsample_bilinear.",
            valueName: "types"))
    var types: String?

    @Option(
        name: .customLong("keep-float32-overflow"),
        help: ArgumentHelp(
            """
            Keep operations in float32 whose weights, or results on these photos, exceed \
            float16, and the operations that use them: a photo, a folder or a list (.txt). \
            Repeatable.
            """, valueName: "photos"), completion: .photo)
    var photos: [String] = []

    @Option(
        help: .rare("Keep results on those photos below 65504 divided by this factor; default: 4."))
    var overflowMargin: Double?

    @Flag(
        name: .customLong("clamp"),
        help: .rare("Clamp weights beyond float16 to ±65504 instead of refusing them."))
    var clamps = false

    func validate() throws {
        let isMixed = !names.isEmpty || types != nil || !photos.isEmpty
        guard !isMixed || precision == .float16 else {
            throw ValidationError("the --keep-float32 options need --precision float16")
        }
        guard margin >= 1, margin.isFinite else {
            throw ValidationError("--overflow-margin \(margin): must be a finite number from 1")
        }
    }

    private var margin: Double { overflowMargin ?? 4 }

    /// The names of the options that were given.
    var given: [String] {
        RetintCLI.given([
            "--precision": precision != nil, "--keep-float32": !names.isEmpty,
            "--keep-float32-types": types != nil, "--keep-float32-overflow": !photos.isEmpty,
            "--overflow-margin": overflowMargin != nil, "--clamp": clamps,
        ])
    }

    /// - Throws: `ImageError` if a photo cannot be read; as `ExportSource.overflowingOperations`.
    func apply(to options: inout ExportOptions, for source: ExportSource?) throws {
        options.precision = precision ?? options.precision
        options.clampsWeights = clamps
        options.float32.names = names
        options.float32.types = (types ?? "").split(separator: ",").map(String.init)
        guard !photos.isEmpty else { return }
        guard let source else {
            throw CommandError(
                .usage,
                "--keep-float32-overflow runs colorizers; export the network, and let retint "
                    + "verify --find-precision find the operations that need float32")
        }
        try options.check(for: source.colorizer)
        let lightness = try paths().map {
            try Image(contentsOf: $0).lightness(height: options.height, width: options.width)
        }
        options.float32.overflowing = try source.overflowingOperations(
            options, on: lightness, limit: Float(65504 / margin))
    }

    private func paths() throws -> [String] {
        try photos.flatMap { try photoFiles(in: $0) }
    }
}
