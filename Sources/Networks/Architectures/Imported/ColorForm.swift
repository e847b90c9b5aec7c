import RetintGraph

/// What a network takes for a photo without its colors, what it returns for the colors, and in
/// which ranges.
///
/// ECCV16 takes L and returns a and b; DDColor takes three equal channels of gray in 0…1 and
/// returns a and b; other networks return a whole photo. retint converts between these and L, a and
/// b in the network's graph.
public struct ColorForm: Hashable, Sendable {
    /// What goes in.
    public enum Input: String, Hashable, Sendable, CaseIterable {
        /// L of CIE Lab, [N, 1, H, W].
        case lightness
        /// The gray photo in sRGB, three equal channels, [N, 3, H, W].
        case grayRGB = "gray-rgb"

        /// The number of channels.
        var channels: Int { self == .lightness ? 1 : 3 }
        /// The bounds of the quantity.
        var bounds: ClosedRange<Float> { self == .lightness ? 0...100 : 0...1 }
    }

    /// What comes out.
    public enum Colors: String, Hashable, Sendable, CaseIterable {
        /// a and b of CIE Lab, [N, 2, H, W], or in two outputs of one channel.
        case ab
        /// A photo in sRGB, [N, 3, H, W], of which retint takes a and b.
        case rgb
        /// L, a and b of CIE Lab, [N, 3, H, W], of which retint takes a and b.
        case lab

        /// The number of channels.
        var channels: Int { self == .ab ? 2 : 3 }
        /// The bounds of the quantity; of L, a and b, those of a and b.
        var bounds: ClosedRange<Float> { self == .rgb ? 0...1 : -110...110 }
    }

    /// What goes in.
    public var input: Input
    /// The range of what goes in: `0..100` for L as it is, `0..1` for a photo as it is.
    public var inputRange: ValueRange
    /// What comes out.
    public var colors: Colors
    /// The range of what comes out: `-110..110` for a and b as they are, `0..1` for a photo as it
    /// is.
    public var colorRange: ValueRange

    /// Creates a form; nil ranges are those of the quantities as they are.
    public init(
        input: Input = .lightness, inputRange: ValueRange? = nil, colors: Colors = .ab,
        colorRange: ValueRange? = nil
    ) {
        (self.input, self.colors) = (input, colors)
        self.inputRange = inputRange ?? .bounds(input.bounds)
        self.colorRange = colorRange ?? .bounds(colors.bounds)
    }

    /// Takes L in 0…100, returns a and b in −110…110.
    public static let inside = ColorForm()
    /// Takes (L − 50)/100, returns a/110 and b/110.
    public static let outside = ColorForm(
        inputRange: .linear(lower: -0.5, upper: 0.5), colorRange: .signed)

    /// The form of a normalization.
    public init(_ normalization: LabScaling.Normalization) {
        self = normalization == .inside ? .inside : .outside
    }

    /// The normalization with this form; nil if it is another one.
    public var normalization: LabScaling.Normalization? {
        switch self {
        case .inside: .inside
        case .outside: .outside
        default: nil
        }
    }
}

/// What is stated of a network's form; the rest follows from its file.
public struct ColorFormChoice: Hashable, Sendable {
    /// What goes in; nil for what the file states, or fits its number of channels.
    public var input: ColorForm.Input?
    /// The range of what goes in; nil for what the file states, or the usual one.
    public var inputRange: ValueRange?
    /// What comes out; nil for what the file states, or fits its number of channels.
    public var colors: ColorForm.Colors?
    /// The range of what comes out; nil for what the file states, or the usual one.
    public var colorRange: ValueRange?

    /// Nothing is stated.
    public init() {}

    /// All of it is stated.
    public init(_ form: ColorForm) {
        (input, inputRange) = (form.input, form.inputRange)
        (colors, colorRange) = (form.colors, form.colorRange)
    }

    /// ``ColorForm/inside``.
    public static let inside = ColorFormChoice(.inside)
    /// ``ColorForm/outside``.
    public static let outside = ColorFormChoice(.outside)

    /// A form with what is stated; ranges of something else than before are the usual ones.
    func applied(to form: ColorForm) -> ColorForm {
        let (newInput, newColors) = (input ?? form.input, colors ?? form.colors)
        return ColorForm(
            input: newInput,
            inputRange: inputRange ?? (newInput == form.input ? form.inputRange : nil),
            colors: newColors,
            colorRange: colorRange ?? (newColors == form.colors ? form.colorRange : nil))
    }
}

extension ValueRange {
    fileprivate static func bounds(_ bounds: ClosedRange<Float>) -> ValueRange {
        .linear(lower: bounds.lowerBound, upper: bounds.upperBound)
    }
}

extension ColorForm {
    /// What the network takes, for L in 0…100, [N, 1, H, W].
    package func networkInput(_ lightness: Tensor) -> Tensor {
        if self == .outside { return LabScaling.normalize(lightness: lightness) }
        guard input == .grayRGB else {
            return inputRange.values(of: lightness, within: input.bounds)
        }
        let gray = SRGBGraph.gray(lightness)
        return inputRange.values(of: concat([gray, gray, gray], axis: 1), within: input.bounds)
    }

    /// a and b in −110…110, [N, 2, H, W], of what the network returns.
    package func ab(_ output: Tensor) -> Tensor {
        if self == .outside { return LabScaling.denormalize(ab: output) }
        switch colors {
        case .ab: return colorRange.inverted(output, within: colors.bounds)
        case .lab:
            return colorRange.inverted(output.sliced(axis: 1, 1..<3), within: colors.bounds)
        case .rgb: return SRGBGraph.ab(colorRange.inverted(output, within: colors.bounds))
        }
    }
}

/// `INPUT RANGE COLORS RANGE`, as in checkpoints.
extension ColorForm: CustomStringConvertible {
    /// Reads a form; nil if the text is not one.
    public init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 4, let input = Input(rawValue: words[0]),
            let inputRange = ValueRange(words[1]), let colors = Colors(rawValue: words[2]),
            let colorRange = ValueRange(words[3])
        else { return nil }
        self.init(
            input: input, inputRange: inputRange, colors: colors, colorRange: colorRange)
        guard isPossible else { return nil }
    }

    /// As in `gray-rgb 0..1 ab -110..110`.
    public var description: String {
        "\(input.rawValue) \(inputRange) \(colors.rawValue) \(colorRange)"
    }

    /// Whether the ranges fit: ImageNet's is one of a photo that goes in.
    public var isPossible: Bool {
        colorRange != .imageNet && (inputRange != .imageNet || input == .grayRGB)
    }
}
