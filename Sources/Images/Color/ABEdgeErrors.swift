/// The ab error of an image near strong edges between colors, and elsewhere.
///
/// A color that bleeds over the border of an object is wrong on a few pixels next to that border;
/// this measures them apart from the rest, where a wrong guess at the color counts.
///
/// An edge is a pixel at which the true a and b change by 4 or more per pixel: √(∂a/∂x² + ∂a/∂y² +
/// ∂b/∂x² + ∂b/∂y²), with derivatives by the Sobel operator (weights 1 2 1, divided by 8; the image
/// is continued by its outermost pixels). Pixels within `reach` rows and columns of an edge are
/// near it. The error of a pixel is the Euclidean distance in the ab plane.
package struct ABEdgeErrors: Hashable, Sendable {
    /// The mean error near edges; nil if the true image has none.
    package let atEdges: Double?
    /// The mean error of the other pixels; nil if there are none.
    package let elsewhere: Double?

    /// The smallest change per pixel that makes a pixel an edge.
    static let threshold: Float = 4

    /// Compares an image with the true one.
    ///
    /// - Parameters:
    ///   - width: of both images, in pixels.
    ///   - height: of both images, in pixels.
    ///   - reach: how far from an edge a pixel is near it, in pixels.
    /// - Throws: `ColorScienceError` if the sizes differ or do not match the planes.
    package init(
        reference: LabPlanes, estimate: LabPlanes, width: Int, height: Int, reach: Int
    ) throws {
        try ColorScienceError.requireSameCount("edge error", reference.count, estimate.count)
        try ColorScienceError.requireSameCount("edge error", reference.count, width * height)
        let edges = Edges(reference, width: width, height: height)
        let near = edges.widened(by: max(reach, 0))
        var (sums, counts) = ([0.0, 0.0], [0, 0])
        for index in 0..<reference.count {
            let da = reference.a[index] - estimate.a[index]
            let db = reference.b[index] - estimate.b[index]
            let group = near[index] ? 0 : 1
            sums[group] += Double((da * da + db * db).squareRoot())
            counts[group] += 1
        }
        atEdges = counts[0] > 0 ? sums[0] / Double(counts[0]) : nil
        elsewhere = counts[1] > 0 ? sums[1] / Double(counts[1]) : nil
    }
}

/// The pixels that are edges.
private struct Edges {
    let width, height: Int
    private(set) var isEdge: [Bool]

    init(_ image: LabPlanes, width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        isEdge = []
        isEdge.reserveCapacity(width * height)
        for y in 0..<height {
            let rows = [max(y - 1, 0), y, min(y + 1, height - 1)].map { $0 * width }
            for x in 0..<width {
                let columns = [max(x - 1, 0), x, min(x + 1, width - 1)]
                let square = [image.a, image.b].reduce(Float(0)) {
                    $0 + squaredSlope($1, rows, columns)
                }
                isEdge.append(square >= ABEdgeErrors.threshold * ABEdgeErrors.threshold)
            }
        }
    }

    /// Whether an edge is within `reach` rows and columns of each pixel.
    func widened(by reach: Int) -> [Bool] {
        let rows = spread(isEdge, reach, lines: height, length: width, step: 1, pitch: width)
        return spread(rows, reach, lines: width, length: height, step: width, pitch: 1)
    }

    /// Spreads along lines: in each, the distance to the last edge and to the next one.
    private func spread(
        _ edges: [Bool], _ reach: Int, lines: Int, length: Int, step: Int, pitch: Int
    ) -> [Bool] {
        var result = edges
        for line in 0..<lines {
            for isBackward in [false, true] {
                var distance = Int.max / 2
                for position in 0..<length {
                    let place = isBackward ? length - 1 - position : position
                    let index = line * pitch + place * step
                    distance = edges[index] ? 0 : distance + 1
                    if distance <= reach { result[index] = true }
                }
            }
        }
        return result
    }
}

/// The squared length of the gradient at the center of three rows and columns.
private func squaredSlope(_ plane: [Float], _ rows: [Int], _ columns: [Int]) -> Float {
    func value(_ row: Int, _ column: Int) -> Float { plane[rows[row] + columns[column]] }
    let right = value(0, 2) + 2 * value(1, 2) + value(2, 2)
    let left = value(0, 0) + 2 * value(1, 0) + value(2, 0)
    let below = value(2, 0) + 2 * value(2, 1) + value(2, 2)
    let above = value(0, 0) + 2 * value(0, 1) + value(0, 2)
    let (dx, dy) = ((right - left) / 8, (below - above) / 8)
    return dx * dx + dy * dy
}
