/// How much of each pixel a convex quadrilateral covers.
package struct Coverage {
    /// The part of a pixel that is covered.
    package struct Part {
        /// 0…1.
        package var area: Double
        /// Its centroid, which lies within the quadrilateral.
        package var center: SIMD2<Double>
    }

    private let corners: [SIMD2<Double>]
    /// For each side its normal, inward and of length 1, and the distance from the origin.
    private let sides: [(normal: SIMD2<Double>, distance: Double)]

    package init(_ quadrilateral: Quadrilateral) {
        corners = quadrilateral.corners
        sides = quadrilateral.corners.indices.map { [corners] index in
            let along = corners[(index + 1) % 4] - corners[index]
            let length = (along * along).sum().squareRoot()
            let normal = SIMD2(-along.y, along.x) / length
            return (normal, (normal * corners[index]).sum())
        }
    }

    /// The pixels of an image of this size that can be covered.
    package func bounds(width: Int, height: Int) -> (columns: Range<Int>, rows: Range<Int>) {
        func range(_ values: [Double], _ limit: Int) -> Range<Int> {
            let first = min(max(Int(values.min()!.rounded(.down)), 0), limit)
            return first..<max(min(Int(values.max()!.rounded(.up)), limit), first)
        }
        return (range(corners.map(\.x), width), range(corners.map(\.y), height))
    }

    /// The covered part of a pixel; nil if it is not covered.
    package func part(x: Int, y: Int) -> Part? {
        let center = SIMD2(Double(x) + 0.5, Double(y) + 0.5)
        let depth = sides.map { ($0.normal * center).sum() - $0.distance }.min()!
        // Half of a pixel's diagonal.
        let reach = 0.5.squareRoot()
        if depth >= reach { return Part(area: 1, center: center) }
        if depth <= -reach { return nil }
        let left = Double(x), top = Double(y)
        var polygon = [
            SIMD2(left, top), SIMD2(left + 1, top), SIMD2(left + 1, top + 1), SIMD2(left, top + 1),
        ]
        for side in sides { polygon = clip(polygon, side.normal, side.distance) }
        return Self.part(polygon)
    }

    /// The part of a polygon on the inner side of a line (Sutherland and Hodgman, 1974).
    private func clip(
        _ polygon: [SIMD2<Double>], _ normal: SIMD2<Double>, _ distance: Double
    ) -> [SIMD2<Double>] {
        var result: [SIMD2<Double>] = []
        for (index, point) in polygon.enumerated() {
            let next = polygon[(index + 1) % polygon.count]
            let depth = (normal * point).sum() - distance
            let nextDepth = (normal * next).sum() - distance
            if depth >= 0 { result.append(point) }
            if (depth >= 0) != (nextDepth >= 0) {
                result.append(point + (next - point) * (depth / (depth - nextDepth)))
            }
        }
        return result
    }

    private static func part(_ polygon: [SIMD2<Double>]) -> Part? {
        guard polygon.count >= 3 else { return nil }
        var area = 0.0, sum = SIMD2<Double>.zero
        for index in 1..<polygon.count - 1 {
            let (first, second) = (polygon[index] - polygon[0], polygon[index + 1] - polygon[0])
            let twice = first.x * second.y - first.y * second.x
            area += twice / 2
            sum += twice / 6 * (first + second)
        }
        return area > 0 ? Part(area: min(area, 1), center: polygon[0] + sum / area) : nil
    }
}
