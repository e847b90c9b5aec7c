/// A rectangle as a photo shows it in perspective, such as a picture on a wall.
///
/// Coordinates are in pixels of the upright photo from its upper left corner to the right and
/// downward: the first pixel reaches from (0, 0) to (1, 1).
public struct Quadrilateral: Hashable, Sendable {
    /// The corners, clockwise from the upper left of the rectangle.
    public let corners: [SIMD2<Double>]

    /// A quadrilateral of four corners, clockwise from the upper left of the rectangle that it
    /// shows. That corner may be anywhere in the photo: the rectangle may hang upside down.
    ///
    /// - Throws: ``PhotoError`` unless there are four finite corners that form a convex
    ///   quadrilateral, in that order.
    public init(_ corners: [SIMD2<Double>]) throws(PhotoError) {
        self.corners = corners
        guard corners.count == 4 else {
            throw PhotoError(.corners, "\(corners.count) corners: a quadrilateral has four")
        }
        guard corners.allSatisfy({ abs($0.x) <= Self.farthest && abs($0.y) <= Self.farthest })
        else {
            throw PhotoError(.corners, "\(description): its corners must be pixels of a photo")
        }
        let turns = (0..<4).map(turn)
        if turns.allSatisfy({ $0 > 0 }) { return }
        throw PhotoError(.corners, "\(description): \(Self.problem(turns))")
    }

    /// No photo is larger; up to this, products of coordinates are exact enough.
    private static let farthest = 1e6

    private static func problem(_ turns: [Double]) -> String {
        if turns.allSatisfy({ $0 < 0 }) {
            return "its corners are counterclockwise; give them clockwise from the upper left of "
                + "the picture"
        }
        if turns.contains(where: { $0 == 0 }) {
            return "three of its corners are on one line or two are the same; give the four "
                + "corners of the picture"
        }
        return "it is not convex; give its corners clockwise from the upper left of the picture"
    }

    /// Three consecutive corners span at least half a pixel.
    private static let smallestTurn = 1.0

    /// Twice the area of the triangle of a corner and its neighbors; positive if the corners turn
    /// clockwise there.
    private func turn(_ index: Int) -> Double {
        let before = corners[(index + 3) % 4], after = corners[(index + 1) % 4]
        let (first, second) = (corners[index] - before, after - corners[index])
        let turn = first.x * second.y - first.y * second.x
        return abs(turn) < Self.smallestTurn ? 0 : turn
    }

    /// The size of the rectified rectangle: the longer of each two opposite sides in the photo. A
    /// rectangle that would have more pixels than the photo is scaled down.
    package func size(inPhoto width: Int, _ height: Int) -> (width: Int, height: Int) {
        func side(_ first: Int, _ second: Int) -> Double {
            let edges = [(0, 1), (1, 2), (2, 3), (3, 0)].map { corners[$0] - corners[$1] }
            return max(edges[first].length, edges[second].length)
        }
        let (across, down) = (side(0, 2), side(1, 3))
        let scale = min((Double(width * height) / (across * down)).squareRoot(), 1)
        return (
            max(Int((across * scale).rounded()), 1), max(Int((down * scale).rounded()), 1)
        )
    }

    /// Checks that the quadrilateral lies within a photo.
    ///
    /// - Parameter photo: the photo's name in the error.
    /// - Throws: ``PhotoError`` with the corner that is outside, and the photo's size.
    package func check(
        width: Int, height: Int, photo: String = "the photo"
    ) throws(PhotoError) {
        let outside = corners.first {
            !(0...Double(width)).contains($0.x) || !(0...Double(height)).contains($0.y)
        }
        guard let outside else { return }
        throw PhotoError(
            .outside,
            file: "\(photo)",
            "the corner \(Self.text(outside)) is outside its \(width) × \(height) "
                + "pixels; give corners of the upright photo")
    }
}

extension Quadrilateral: CustomStringConvertible {
    /// The corners as `x,y x,y x,y x,y`.
    public var description: String { corners.map(Self.text).joined(separator: " ") }

    private static func text(_ corner: SIMD2<Double>) -> String {
        func text(_ value: Double) -> String {
            value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)"
        }
        return "\(text(corner.x)),\(text(corner.y))"
    }
}

extension Quadrilateral {
    /// Reads corners in the form `x,y x,y x,y x,y`.
    ///
    /// - Throws: ``PhotoError`` if the text is something else, and as ``init(_:)``.
    public init(parsing text: String) throws(PhotoError) {
        let corners = text.split(separator: " ").map { corner in
            corner.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        }
        guard corners.count == 4, corners.allSatisfy({ $0.count == 2 && !$0.contains(nil) }) else {
            throw PhotoError(
                .corners,
                "\(text): is not four corners; give them as x,y x,y x,y x,y in pixels, clockwise "
                    + "from the upper left of the picture")
        }
        try self.init(corners.map { SIMD2($0[0]!, $0[1]!) })
    }
}

extension SIMD2<Double> {
    fileprivate var length: Double { (x * x + y * y).squareRoot() }
}
