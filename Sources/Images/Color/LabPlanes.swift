/// An image in CIE Lab (D65): one array per channel, all of the same length.
public struct LabPlanes: Equatable, Sendable {
    /// Lightness, 0 (black) to 100 (white).
    public var l: [Float]

    /// Green (negative) to red (positive), about −86…98 for sRGB colors.
    public var a: [Float]

    /// Blue (negative) to yellow (positive), about −108…94 for sRGB colors.
    public var b: [Float]

    /// An image of three planes.
    ///
    /// - Precondition: `l`, `a` and `b` have the same count.
    public init(l: [Float], a: [Float], b: [Float]) {
        precondition(l.count == a.count && l.count == b.count, "Lab planes differ in length")
        self.l = l
        self.a = a
        self.b = b
    }

    /// The range of a and b, −110…110: the peak of their PSNR.
    package static let abSpan = 220.0

    /// The number of pixels.
    public var count: Int { l.count }
}
