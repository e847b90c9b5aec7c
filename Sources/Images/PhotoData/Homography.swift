/// A projective map of the plane: the perspective between a rectangle and a photo of it.
package struct Homography: Sendable {
    /// Row by row; (x, y, 1) becomes (x′, y′, w) and stands for (x′/w, y′/w).
    package let matrix: [SIMD3<Double>]

    private init(_ rows: SIMD3<Double>...) { matrix = rows }

    /// Maps a rectangle of this size, whose upper left corner is (0, 0), to a quadrilateral.
    ///
    /// Four points determine the map; it is solved in closed form (Heckbert, "Fundamentals of
    /// Texture Mapping and Image Warping", 1989, section 2.2.3).
    package init(fromWidth width: Double, height: Double, to target: Quadrilateral) {
        let p = target.corners
        let (first, second) = (p[1] - p[2], p[3] - p[2])
        let sum = p[0] - p[1] + p[2] - p[3]
        let determinant = first.cross(second)
        let g = sum.cross(second) / determinant, h = first.cross(sum) / determinant
        let column = p[1] - p[0] + g * p[1], row = p[3] - p[0] + h * p[3]
        self.init(
            SIMD3(column.x / width, row.x / height, p[0].x),
            SIMD3(column.y / width, row.y / height, p[0].y),
            SIMD3(g / width, h / height, 1))
    }

    /// The inverse map. Its matrix is the adjugate; its scale is arbitrary.
    package var inverse: Homography {
        let (a, b, c) = (matrix[0], matrix[1], matrix[2])
        let columns = [b.cross(c), c.cross(a), a.cross(b)]
        // The determinant's sign, so that w stays positive.
        let sign: Double = (a * columns[0]).sum() < 0 ? -1 : 1
        func row(_ index: Int) -> SIMD3<Double> {
            sign * SIMD3(columns[0][index], columns[1][index], columns[2][index])
        }
        return Homography(row(0), row(1), row(2))
    }

    package func callAsFunction(_ point: SIMD2<Double>) -> SIMD2<Double> {
        let point = SIMD3(point, 1)
        let (x, y, w) = (
            (matrix[0] * point).sum(), (matrix[1] * point).sum(), (matrix[2] * point).sum()
        )
        return SIMD2(x, y) / w
    }
}

extension SIMD2<Double> {
    fileprivate func cross(_ other: Self) -> Double { x * other.y - y * other.x }
}

extension SIMD3<Double> {
    fileprivate func cross(_ other: Self) -> Self {
        SIMD3(
            y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }
}
