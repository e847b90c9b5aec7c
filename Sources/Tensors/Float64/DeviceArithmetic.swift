import RetintTensors

/// An arithmetic in which a device may run a network: formats, the order of sums, and how exact
/// functions are.
///
/// It prints itself in one line, and is read from that line:
///
///     results=float16 sums=float32 steps=float16 order=blocks:32 products=fused
///     subnormals=flushed rounding=nearest functions=2^-11 sigmoid=table:512 seed=17
///
/// Values that the package declares as float32 always have float32 results, sums and steps.
public struct DeviceArithmetic: Hashable, Sendable {
    /// A format of numbers.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// Half precision, 11 significant bits.
        case float16
        /// Single precision, 24 significant bits.
        case float32
    }

    /// How results are rounded.
    public enum RoundingRule: String, Hashable, Sendable, CaseIterable {
        /// To the nearest number, ties to even.
        case nearest
        /// Up or down at random, with the exact result as the mean.
        case stochastic
    }

    /// The format of the results of operations.
    public var results = Format.float32
    /// The format in which products and partial sums are held.
    public var sums = Format.float32
    /// The format of the steps inside an operation, such as the exponential of a sigmoid, or the
    /// variance of a layer normalization.
    public var steps = Format.float32
    /// The order of sums.
    public var order = SumOrder.sequential
    /// Whether a product is added unrounded (fused multiply-add), or is rounded before.
    public var fusesProducts = false
    /// Whether subnormal numbers become zero.
    public var flushesSubnormals = false
    /// How results are rounded.
    public var rounding = RoundingRule.nearest
    /// Bounds the relative error of exponentials, logarithms, square roots, error functions, sines,
    /// hyperbolic tangents and divisions by 2⁻ⁿ in float16 and by 2⁻²ⁿ in float32, before they are
    /// rounded; nil if they are exact.
    public var functionBits: Int?
    /// The number of segments of a table, linearly interpolated over −8…8, for sigmoids and
    /// hyperbolic tangents in float16; nil if there is none.
    public var sigmoidSegments: Int?
    /// The seed of stochastic rounding and of the errors of functions.
    public var seed: UInt64 = 0

    /// Float32 to the nearest, sums one after another, products rounded, functions exact.
    public init() {}

    /// The allowed bounds of functions, as negative powers of two.
    public static let functionRange = 4...26
    /// The allowed sizes of tables.
    public static let tableRange = 16...65_536
}

// MARK: Drawing

extension DeviceArithmetic {
    /// Arithmetics that are legal for a model, drawn from a seed.
    ///
    /// For a float16 model three of four have float16 results; the others run it in float32. A
    /// float32 model has only formats of float32.
    ///
    /// - Parameters:
    ///   - count: the number of arithmetics.
    ///   - precision: the precision that the model declares.
    public static func drawn(
        _ count: Int, for precision: Format, seed: UInt64
    ) -> [DeviceArithmetic] {
        (0..<max(count, 0)).map { index in
            var random = RandomStream(seed: seed, name: "arithmetic \(index)")
            return DeviceArithmetic(for: precision, &random)
        }
    }

    private init(for precision: Format, _ random: inout RandomStream) {
        let isHalf = precision == .float16 && Int.random(in: 0..<4, using: &random) > 0
        if isHalf {
            results = .float16
            sums = Bool.random(using: &random) ? .float16 : .float32
            steps = Bool.random(using: &random) ? .float16 : .float32
        }
        order = .drawn(&random)
        fusesProducts = Bool.random(using: &random)
        flushesSubnormals = Bool.random(using: &random)
        rounding = Int.random(in: 0..<4, using: &random) == 0 ? .stochastic : .nearest
        functionBits = [nil, 11, 10].randomElement(using: &random) ?? nil
        let hasTable = Int.random(in: 0..<3, using: &random) == 0
        sigmoidSegments = isHalf && hasTable ? 512 : nil
        seed = random.next() >> 32
    }
}

extension SumOrder {
    fileprivate static func drawn(_ random: inout RandomStream) -> SumOrder {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .sequential
        case 1: .reversed
        case 2: .interleaved
        case 3: .pairwise
        default: .blocks(1 << Int.random(in: 2...8, using: &random))
        }
    }
}

// MARK: In one line

extension DeviceArithmetic: LosslessStringConvertible {
    /// All properties in one line.
    public var description: String {
        [
            "results=\(results.rawValue)", "sums=\(sums.rawValue)", "steps=\(steps.rawValue)",
            "order=\(order)", "products=\(fusesProducts ? "fused" : "rounded")",
            "subnormals=\(flushesSubnormals ? "flushed" : "kept")",
            "rounding=\(rounding.rawValue)",
            "functions=\(functionBits.map { "2^-\($0)" } ?? "exact")",
            "sigmoid=\(sigmoidSegments.map { "table:\($0)" } ?? "formula")", "seed=\(seed)",
        ].joined(separator: " ")
    }

    /// Reads a line of properties; those that are missing are those of ``init()``.
    ///
    /// - Returns: nil if a property is unknown or named twice, or has a value that it cannot have.
    public init?(_ description: String) {
        self.init()
        var named: Set<Substring> = []
        for word in description.split(separator: " ") {
            let parts = word.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, named.insert(parts[0]).inserted,
                set(String(parts[0]), String(parts[1]))
            else { return nil }
        }
        guard !named.isEmpty else { return nil }
    }

    private mutating func set(_ name: String, _ value: String) -> Bool {
        switch name {
        case "results": Self.set(&results, Format(rawValue: value))
        case "sums": Self.set(&sums, Format(rawValue: value))
        case "steps": Self.set(&steps, Format(rawValue: value))
        case "order": Self.set(&order, SumOrder(value))
        case "products": Self.set(&fusesProducts, ["fused": true, "rounded": false][value])
        case "subnormals": Self.set(&flushesSubnormals, ["flushed": true, "kept": false][value])
        case "rounding": Self.set(&rounding, RoundingRule(rawValue: value))
        case "functions":
            Self.set(&functionBits, Self.number(value, "exact", "2^-", Self.functionRange))
        case "sigmoid":
            Self.set(&sigmoidSegments, Self.number(value, "formula", "table:", Self.tableRange))
        case "seed": Self.set(&seed, UInt64(value))
        default: false
        }
    }

    private static func set<Value>(_ property: inout Value, _ value: Value?) -> Bool {
        guard let value else { return false }
        property = value
        return true
    }

    /// A word that means nil, or a number within a range behind a prefix.
    private static func number(
        _ value: String, _ none: String, _ prefix: String, _ range: ClosedRange<Int>
    ) -> Int?? {
        if value == none { return .some(nil) }
        guard value.hasPrefix(prefix), let number = Int(value.dropFirst(prefix.count)),
            range.contains(number)
        else { return nil }
        return .some(number)
    }
}

extension DeviceArithmetic: Codable {
    /// Reads a description.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let read = DeviceArithmetic(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\(text) is not an arithmetic")
        }
        self = read
    }

    /// Writes the description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
