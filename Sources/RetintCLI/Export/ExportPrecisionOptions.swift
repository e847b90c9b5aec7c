import ArgumentParser
import Retint

/// What a package computes in.
struct ExportPrecisionOptions: ParsableArguments {
    @Option(help: "The arithmetic and the weights of the program: float32 or float16.")
    var precision = ExportOptions.Precision.float32

    @Option(
        name: .customLong("keep-float32"),
        help: ArgumentHelp(
            """
            Operations of a float16 program that stay in float32, by name: the module's path and \
            the operation, with * and ?, as in 'model8.*'. May be given again.
            """, valueName: "pattern"))
    var names: [String] = []

    @Option(
        name: .customLong("keep-float32-types"),
        help: ArgumentHelp(
            "The same by type, with commas between: softmax,upsample_bilinear.",
            valueName: "types"))
    var types: String?

    @Option(
        name: .customLong("keep-float32-overflow"),
        help: ArgumentHelp(
            """
            Keep what goes beyond float16, in weights or on these photos, and what reads it: a \
            photo or a directory. May be given again.
            """, valueName: "photos"))
    var photos: [String] = []

    @Option(help: "How many times below 65504 results on those photos have to stay.")
    var overflowMargin = 4.0

    @Flag(
        name: .customLong("clamp"),
        help: "Turn weights that the precision does not hold into ±65504, instead of refusing.")
    var clamps = false

    func validate() throws {
        let isMixed = !names.isEmpty || types != nil || !photos.isEmpty
        guard !isMixed || precision == .float16 else {
            throw ValidationError("what is kept in float32 goes with --precision float16")
        }
        guard overflowMargin >= 1, overflowMargin.isFinite else {
            throw ValidationError(
                "--overflow-margin is \(overflowMargin); give a number from 1, such as 4")
        }
    }

    /// - Throws: an error that names a photo that cannot be read; as the measurement does.
    func apply(to options: inout ExportOptions, for source: ExportSource) throws {
        options.precision = precision
        options.clampsWeights = clamps
        options.float32.names = names
        options.float32.types = (types ?? "").split(separator: ",").map(String.init)
        guard !photos.isEmpty else { return }
        try options.check(for: source.colorizer)
        let pictures = try paths().map {
            try Image(contentsOf: $0).lightness(height: options.height, width: options.width)
        }
        options.float32.overflowing = try overflowingOperations(
            source, options, on: pictures, limit: Float(65504 / overflowMargin))
    }

    private func paths() throws -> [String] {
        try photos.flatMap { try isDirectory($0) ? photoFiles(below: $0) : [$0] }
    }
}

extension ExportOptions.Precision: ExpressibleByArgument {}
