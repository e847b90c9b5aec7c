import ArgumentParser
import Retint

/// The input sizes of the package.
struct ExportSizeOptions: ParsableArguments {
    @Option(
        help: "The side of the square input in pixels; default: 256, or the network's own size.")
    var size: Int?

    @Option(help: .rare("The height of the input, with --width."))
    var height: Int?

    @Option(help: .rare("The width of the input, with --height."))
    var width: Int?

    @Option(
        help: ArgumentHelp(
            "All input sizes, the default first: 256,512 or 320x240,640x480.",
            valueName: "widthxheight,…"))
    var sizes: SizeList?

    @Option(
        help: ArgumentHelp(
            "The smallest size of a range, as a number or WIDTHxHEIGHT.", valueName: "size"))
    var minSize: ExportOptions.Size?

    @Option(
        help: ArgumentHelp(
            "The largest size of a range, as a number or WIDTHxHEIGHT.", valueName: "size"))
    var maxSize: ExportOptions.Size?

    func validate() throws {
        let isFixed = size != nil || height != nil || width != nil
        let isRange = minSize != nil || maxSize != nil
        guard size == nil || height == nil && width == nil, (height == nil) == (width == nil) else {
            throw ValidationError("give either --size, or --height and --width")
        }
        guard (minSize == nil) == (maxSize == nil) else {
            throw ValidationError("--min-size and --max-size go together")
        }
        guard sizes == nil || !isFixed && !isRange else {
            throw ValidationError("--sizes cannot be combined with other size options")
        }
        if let twice = sizes?.twice {
            throw ValidationError(
                """
                --sizes names \(twice.width)x\(twice.height) twice; name it once, or, if these are \
                a width and a height, put an x between them
                """)
        }
    }

    /// The names of the options that were given.
    var given: [String] {
        RetintCLI.given([
            "--size": size != nil, "--height": height != nil, "--width": width != nil,
        ]) + givenSeveral
    }

    /// Those that state several sizes.
    var givenSeveral: [String] {
        RetintCLI.given([
            "--sizes": sizes != nil, "--min-size": minSize != nil, "--max-size": maxSize != nil,
        ])
    }

    func apply(to options: inout ExportOptions) {
        let standard = sizes?.sizes.first ?? single ?? fallback
        (options.width, options.height) = (standard.width, standard.height)
        if let sizes {
            options.flexibility = .enumerated(Array(sizes.sizes.dropFirst()))
        } else if let minSize, let maxSize {
            options.flexibility = .range(from: minSize, to: maxSize)
        }
    }

    private var single: ExportOptions.Size? {
        if let width, let height { return ExportOptions.Size(width: width, height: height) }
        return size.map { ExportOptions.Size($0) }
    }

    /// 256 × 256, clamped to the range.
    private var fallback: ExportOptions.Size {
        let (low, high) = (minSize ?? .init(256), maxSize ?? .init(256))
        return ExportOptions.Size(
            width: min(max(256, low.width), high.width),
            height: min(max(256, low.height), high.height))
    }
}

/// Comma-separated sizes.
struct SizeList: ExpressibleByArgument {
    let sizes: [ExportOptions.Size]

    init?(argument: String) {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        sizes = words.compactMap { ExportOptions.Size(argument: String($0)) }
        guard sizes.count == words.count else { return nil }
    }

    /// A size that is named more than once.
    var twice: ExportOptions.Size? {
        var seen: Set<ExportOptions.Size> = []
        return sizes.first { !seen.insert($0).inserted }
    }
}

extension ExportOptions.Size: ExpressibleByArgument {
    /// `256`, or `320x240` for width 320 and height 240.
    public init?(argument: String) {
        let sides = argument.split(separator: "x", omittingEmptySubsequences: false).map {
            Int($0)
        }
        guard (1...2).contains(sides.count), let width = sides[0], let height = sides.last ?? nil
        else { return nil }
        self.init(width: width, height: height)
    }
}
