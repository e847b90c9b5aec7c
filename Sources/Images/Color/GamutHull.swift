/// The convex hull of the sRGB colors projected onto the ab plane: a polygon.
struct GamutHull {
    /// The corners in order around the polygon.
    let corners: [(a: Double, b: Double)]

    static let sRGB = GamutHull(of: colorsOnCubeEdges())

    /// All 8-bit colors on the twelve edges of the RGB cube, where the outermost colors are.
    private static func colorsOnCubeEdges() -> [(a: Double, b: Double)] {
        var pixels: [UInt8] = []
        for axis in 0..<3 {
            for end in 0..<4 {
                for value in 0...UInt8.max {
                    var color: [UInt8] = [0, 0, 0]
                    color[axis] = value
                    color[(axis + 1) % 3] = end & 1 == 0 ? 0 : 255
                    color[(axis + 2) % 3] = end & 2 == 0 ? 0 : 255
                    pixels += color
                }
            }
        }
        let planes = lab(fromRGB: pixels)
        return zip(planes.a, planes.b).map { (Double($0), Double($1)) }
    }

    /// Andrew's monotone chain.
    init(of points: [(a: Double, b: Double)]) {
        let sorted = points.sorted { ($0.a, $0.b) < ($1.a, $1.b) }
        corners = Self.chain(sorted) + Self.chain(sorted.reversed())
    }

    /// One half of the hull without its last point, which is the first of the other half.
    private static func chain(_ points: [(a: Double, b: Double)]) -> [(a: Double, b: Double)] {
        var chain: [(a: Double, b: Double)] = []
        for point in points {
            while chain.count > 1, turn(chain[chain.count - 2], chain[chain.count - 1], point) <= 0
            {
                chain.removeLast()
            }
            chain.append(point)
        }
        return chain.dropLast()
    }

    /// Positive where the path from `one` over `two` to `three` turns left.
    private static func turn(
        _ one: (a: Double, b: Double), _ two: (a: Double, b: Double),
        _ three: (a: Double, b: Double)
    ) -> Double {
        (two.a - one.a) * (three.b - one.b) - (two.b - one.b) * (three.a - one.a)
    }

    private init(corners: [(a: Double, b: Double)]) { self.corners = corners }

    private static let reach = Double(ABBins.spacing)

    /// The part of the hull in the cells that meet at grid points of an a.
    func clipped(around a: Double) -> GamutHull {
        let reach = Self.reach
        return GamutHull(
            corners: clipped(corners, { $0.a - (a - reach) }, { a + reach - $0.a }))
    }

    /// Whether any of the cells that meet at grid points of a b overlaps the hull.
    func touches(cellsAround b: Double) -> Bool {
        let reach = Self.reach
        return !clipped(corners, { $0.b - (b - reach) }, { b + reach - $0.b }).isEmpty
    }

    /// The part of a convex polygon where both distances are above 0 (Sutherland and Hodgman).
    private func clipped(
        _ polygon: [(a: Double, b: Double)], _ sides: ((a: Double, b: Double)) -> Double...
    ) -> [(a: Double, b: Double)] {
        sides.reduce(polygon) { polygon, distance in
            var result: [(a: Double, b: Double)] = []
            for (index, point) in polygon.enumerated() {
                let next = polygon[(index + 1) % polygon.count]
                let (here, there) = (distance(point), distance(next))
                if here > 0 { result.append(point) }
                if here > 0 && there < 0 || here < 0 && there > 0 {
                    let share = here / (here - there)
                    result.append(
                        (point.a + share * (next.a - point.a), point.b + share * (next.b - point.b))
                    )
                }
            }
            return result
        }
    }
}
