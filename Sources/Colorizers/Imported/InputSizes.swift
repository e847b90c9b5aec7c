import TensorGraph

/// The sizes of lightness that a network takes.
public enum InputSizes: Hashable, Sendable, CustomStringConvertible {
    /// Heights and widths that are multiples of a number.
    case multiples(of: Int)
    /// One size alone, in pixels.
    case only(height: Int, width: Int)

    /// To follow "takes": `multiples of 8`, `224×256 alone` (width × height).
    public var description: String {
        switch self {
        case .multiples(let number): "multiples of \(number)"
        case .only(let height, let width): "\(width)×\(height) alone"
        }
    }
}
