public import RetintGraph

/// The sizes of lightness that a network takes.
public enum InputSizes: Hashable, Sendable {
    /// Heights and widths that are multiples of a number.
    case multiples(of: Int)
    /// One size alone, in pixels.
    case only(height: Int, width: Int)

    /// The number that heights and widths must be multiples of; 1 for one size alone.
    public var multiple: Int {
        if case .multiples(let number) = self { number } else { 1 }
    }

    /// The only size, in pixels; nil unless there is one alone.
    public var only: Pair? {
        if case .only(let height, let width) = self { Pair(height, width) } else { nil }
    }
}
