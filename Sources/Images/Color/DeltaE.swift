import Glibc

/// The CIEDE2000 color difference of each pixel, with kL = kC = kH = 1 (Sharma et al. 2005).
///
/// - Throws: `ColorScienceError` when the images differ in size or are empty.
package func deltaE2000(_ first: LabPlanes, _ second: LabPlanes) throws -> [Float] {
    try ColorScienceError.requireSameCount("ΔE2000", first.count, second.count)
    return first.indices.map { Float(ciede2000(first[$0], second[$0])) }
}

/// The mean over pixels of the CIEDE2000 color difference.
///
/// - Throws: `ColorScienceError` when the images differ in size or are empty.
package func meanDeltaE2000(_ first: LabPlanes, _ second: LabPlanes) throws -> Double {
    try ColorScienceError.requireSameCount("ΔE2000", first.count, second.count)
    let sum = first.indices.reduce(0.0) { $0 + ciede2000(first[$1], second[$1]) }
    return sum / Double(first.count)
}

/// The CIE 1976 color difference of each pixel: the Euclidean distance in Lab.
///
/// - Throws: `ColorScienceError` when the images differ in size or are empty.
package func deltaE76(_ first: LabPlanes, _ second: LabPlanes) throws -> [Float] {
    try ColorScienceError.requireSameCount("ΔE76", first.count, second.count)
    return first.indices.map { index in
        let d = first[index] - second[index]
        return Float((d * d).sum().squareRoot())
    }
}

extension LabPlanes {
    var indices: Range<Int> { 0..<count }

    /// A pixel in double precision: L, a, b, 0.
    subscript(index: Int) -> SIMD4<Double> {
        SIMD4(Double(l[index]), Double(a[index]), Double(b[index]), 0)
    }
}

/// Chroma and hue after multiplying a by `scale`, as CIEDE2000 does; the hue is 0…2π.
private struct Polar {
    let chroma: Double
    let hue: Double

    init(_ lab: SIMD4<Double>, scale: Double) {
        chroma = abLength(lab.y * scale, lab.z)
        let angle = atan2(lab.z, lab.y * scale)
        hue = angle < 0 ? angle + 2 * .pi : angle
    }
}

/// √(a² + b²): a chroma or a distance. The squares of ab cannot overflow, so this needs no `hypot`,
/// which takes much longer.
func abLength(_ a: Double, _ b: Double) -> Double { (a * a + b * b).squareRoot() }

private func ciede2000(_ first: SIMD4<Double>, _ second: SIMD4<Double>) -> Double {
    let chroma = 0.5 * (abLength(first.y, first.z) + abLength(second.y, second.z))
    let scale = 1.5 - 0.5 * chromaFactor(chroma)
    let one = Polar(first, scale: scale)
    let two = Polar(second, scale: scale)
    let lightness = lightnessTerm(first.x, second.x)
    let meanChroma = 0.5 * (one.chroma + two.chroma)
    let chromaTerm = (two.chroma - one.chroma) / (1 + 0.045 * meanChroma)
    let (difference, mean) = hues(one, two)
    let hueDistance = 2 * (one.chroma * two.chroma).squareRoot() * sin(difference / 2)
    let hueTerm = hueDistance / (1 + 0.015 * meanChroma * hueWeight(mean))
    let rotation = -2 * chromaFactor(meanChroma) * sin(2 * blueRotation(mean))
    let squares = lightness * lightness + chromaTerm * chromaTerm + hueTerm * hueTerm
    return max(squares + rotation * chromaTerm * hueTerm, 0).squareRoot()
}

/// √(C⁷ / (C⁷ + 25⁷)).
private func chromaFactor(_ chroma: Double) -> Double {
    let cube = chroma * chroma * chroma
    let seventh = cube * cube * chroma
    return (seventh / (seventh + 6_103_515_625)).squareRoot()
}

private func lightnessTerm(_ first: Double, _ second: Double) -> Double {
    let offset = 0.5 * (first + second) - 50
    let square = offset * offset
    return (second - first) / (1 + 0.015 * square / (20 + square).squareRoot())
}

/// The hue difference and the mean hue along the shorter arc; the difference to gray is 0.
private func hues(_ first: Polar, _ second: Polar) -> (difference: Double, mean: Double) {
    let sum = first.hue + second.hue
    guard first.chroma > 0, second.chroma > 0 else { return (0, sum) }
    let difference = second.hue - first.hue
    guard abs(difference) > .pi else { return (difference, sum / 2) }
    let turn = 2 * Double.pi
    let mean = (sum < turn ? sum + turn : sum - turn) / 2
    return (difference > 0 ? difference - turn : difference + turn, mean)
}

private func hueWeight(_ hue: Double) -> Double {
    let one = Angle(hue)
    let two = one + one
    return 1 - 0.17 * (one + Angle(radians(-30))).cosine + 0.24 * two.cosine
        + 0.32 * (two + one + Angle(radians(6))).cosine
        - 0.20 * (two + two + Angle(radians(-63))).cosine
}

/// An angle whose multiples and sums need no further cosines.
private struct Angle {
    let cosine, sine: Double

    @inline(__always)
    init(_ radians: Double) { (cosine, sine) = (cos(radians), sin(radians)) }

    private init(cosine: Double, sine: Double) { (self.cosine, self.sine) = (cosine, sine) }

    static func + (first: Angle, second: Angle) -> Angle {
        Angle(
            cosine: first.cosine * second.cosine - first.sine * second.sine,
            sine: first.sine * second.cosine + first.cosine * second.sine)
    }
}

private func blueRotation(_ hue: Double) -> Double {
    let offset = (hue * 180 / .pi - 275) / 25
    return radians(30) * exp(-offset * offset)
}

private func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
