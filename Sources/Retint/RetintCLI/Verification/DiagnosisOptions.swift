import ArgumentParser
import Retint

/// What a verification does to find where errors come from.
struct DiagnosisOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Also compare these stages of the export: trained, folded, lowered and written, \
            comma-separated.
            """, valueName: "stages"))
    var stages: String?

    @Flag(help: "Measure the errors of the weights and of the arithmetic separately.")
    var errorSources = false

    @Flag(
        help: """
            Find a smallest set of operations of a float16 package that must stay in float32, \
            and write the package that passes (-o).
            """)
    var findPrecision = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The package that --find-precision writes.", valueName: "out.mlpackage"))
    var output: String?

    @Option(
        help: .rare(
            "The most packages that --find-precision may run; default: 500.", valueName: "runs"))
    var maxRuns: Int?

    @Option(
        help: ArgumentHelp(
            """
            If the package fails, write the smallest part of it that still fails, and next to it \
            (.h5) its inputs and expected output.
            """, valueName: "out.mlpackage"))
    var reduce: String?

    @Option(
        help: ArgumentHelp(
            """
            Also evaluate the model in this many arithmetics that devices may have, drawn from \
            --seed: the digits that are left, the fragile operations, and the share that passes. \
            Or name one, as the report does: "results=float16 sums=float32 …".
            """, valueName: "number"))
    var arithmetics: ArithmeticChoice?

    @Flag(
        help: """
            Bound every value of a float16 package for all inputs, such as all lightness in \
            0…100: whether NaN or infinity can occur, and the largest error of the outputs; and \
            search for the input with the largest error.
            """)
    var certify = false

    @Option(
        help: .rare(
            """
            Write the worst image that --certify finds: one on which the package overflows, else \
            that with the largest error.
            """, valueName: "out.png"), completion: .file(extensions: ["png"]))
    var worstImage: String?

    /// The allowed numbers of runs.
    private static let runRange = 2...1_000_000

    func validate() throws {
        guard findPrecision == (output != nil) else {
            throw ValidationError(
                findPrecision
                    ? "--find-precision needs -o, the package to write"
                    : "-o needs --find-precision")
        }
        guard maxRuns == nil || findPrecision else {
            throw ValidationError("--max-runs needs --find-precision")
        }
        if let maxRuns, !Self.runRange.contains(maxRuns) {
            throw ValidationError(
                "--max-runs \(maxRuns): must be from \(Self.runRange.lowerBound) to "
                    + "\(Self.runRange.upperBound)")
        }
        for (option, path) in [("-o", output), ("--reduce", reduce)] {
            guard let path, !ModelFormat.coreML.isExtension(of: path) else { continue }
            throw ValidationError("\(option) \(path): must end in .mlpackage")
        }
        guard worstImage == nil || certify else {
            throw ValidationError("--worst-image needs --certify")
        }
        if let worstImage, !worstImage.lowercased().hasSuffix(".png") {
            throw ValidationError("--worst-image \(worstImage): must end in .png")
        }
        guard reduce == nil || !findPrecision else {
            throw ValidationError("give either --find-precision or --reduce")
        }
        _ = try stageList
    }

    /// The options that are given, for messages.
    var given: [String] {
        [
            ("--stages", stages != nil), ("--error-sources", errorSources),
            ("--find-precision", findPrecision), ("--reduce", reduce != nil),
            ("--arithmetics", arithmetics != nil), ("--certify", certify),
        ].filter(\.1).map(\.0)
    }

    /// The stages to compare; empty if there are none.
    var stageList: [VerificationReport.Stage] {
        get throws {
            try (stages ?? "").split(separator: ",").map { word in
                guard let stage = VerificationReport.Stage(rawValue: String(word)) else {
                    let known = VerificationReport.Stage.allCases.map(\.rawValue).joined(
                        separator: ", ")
                    throw ValidationError("--stages \(word): must be one of \(known)")
                }
                return stage
            }
        }
    }

    /// Whether there is something to find out about a model alone.
    var needsNoOther: Bool { arithmetics != nil || certify }

    /// The reference file of the part that --reduce writes.
    var reducedReference: String? {
        reduce.map { $0.dropLast(".mlpackage".count) + ".h5" }
    }

    /// The files that are written.
    var files: [String] { [output, reduce, reducedReference, worstImage].compactMap { $0 } }
}

/// The argument of --arithmetics: a number, or one arithmetic.
enum ArithmeticChoice: ExpressibleByArgument {
    case drawn(Int)
    case named(DeviceArithmetic)

    /// The allowed numbers of arithmetics.
    private static let range = 1...10_000

    init?(argument: String) {
        if let count = Int(argument) {
            guard Self.range.contains(count) else { return nil }
            self = .drawn(count)
        } else if let arithmetic = DeviceArithmetic(argument) {
            self = .named(arithmetic)
        } else {
            return nil
        }
    }
}
