public import RetintGraph

/// The sizes of lightness that a network takes.
public enum InputSizes: Hashable, Sendable {
    /// Heights and widths that are multiples of a number.
    case multiples(of: Int)
    /// Only one size, in pixels.
    case only(height: Int, width: Int)

    /// Heights and widths must be multiples of this number; 1 for only one size.
    public var multiple: Int {
        if case .multiples(let number) = self { number } else { 1 }
    }

    /// The only size, in pixels; nil if there are several.
    public var only: Pair? {
        if case .only(let height, let width) = self { Pair(height, width) } else { nil }
    }
}
