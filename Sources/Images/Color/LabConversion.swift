/// Converts interleaved 8-bit sRGB to Lab planes (D65, 2° observer).
///
/// - Parameter pixels: R, G, B, R, G, B, …
/// - Returns: Planes of one value per pixel; L is 0…100.
/// - Precondition: `pixels.count` is a multiple of three.
package func lab(fromRGB pixels: [UInt8]) -> LabPlanes {
    precondition(pixels.count.isMultiple(of: 3), "RGB data must hold three values per pixel")
    let count = pixels.count / 3
    var l = [Float](repeating: 0, count: count)
    var a = l
    var b = l
    let linear = SRGBCurve.linear
    let whole = count - count % 4
    for start in stride(from: 0, to: whole, by: 4) {
        let block = LabBlock(rgb: pixels, from: start, count: 4, linear: linear)
        store(block.l, in: &l, from: start, count: 4)
        store(block.a, in: &a, from: start, count: 4)
        store(block.b, in: &b, from: start, count: 4)
    }
    let rest = LabBlock(rgb: pixels, from: whole, count: count - whole, linear: linear)
    store(rest.l, in: &l, from: whole, count: count - whole)
    store(rest.a, in: &a, from: whole, count: count - whole)
    store(rest.b, in: &b, from: whole, count: count - whole)
    return LabPlanes(l: l, a: a, b: b)
}

extension LabPlanes {
    /// Converts Lab planes to interleaved 8-bit sRGB: colors outside sRGB are clamped channel by
    /// channel, then rounded to the nearest level. A NaN becomes 0.
    ///
    /// - Returns: R, G, B, R, G, B, …, three values per pixel.
    /// - Precondition: The planes have equal lengths.
    public func rgb() -> [UInt8] {
        let count = count
        precondition(a.count == count && b.count == count, "Lab planes differ in length")
        var pixels = [UInt8](repeating: 0, count: count * 3)
        let encoder = SRGBCurve.encoder
        let whole = count - count % 4
        for start in stride(from: 0, to: whole, by: 4) {
            LabBlock(planes: self, from: start, count: 4)
                .storeRGB(in: &pixels, from: start, count: 4, encoder: encoder)
        }
        LabBlock(planes: self, from: whole, count: count - whole)
            .storeRGB(in: &pixels, from: whole, count: count - whole, encoder: encoder)
        return pixels
    }
}

/// Four pixels in Lab: one SSE or NEON register per channel.
private struct LabBlock {
    typealias Lanes = LabCurve.Lanes
    var l = Lanes()
    var a = Lanes()
    var b = Lanes()

    @inline(__always)
    init(planes: LabPlanes, from start: Int, count: Int) {
        for lane in 0..<count {
            l[lane] = planes.l[start + lane]
            a[lane] = planes.a[start + lane]
            b[lane] = planes.b[start + lane]
        }
    }

    @inline(__always)
    init(rgb pixels: [UInt8], from start: Int, count: Int, linear: [Float]) {
        var red = Lanes()
        var green = Lanes()
        var blue = Lanes()
        for lane in 0..<count {
            red[lane] = linear[Int(pixels[(start + lane) * 3])]
            green[lane] = linear[Int(pixels[(start + lane) * 3 + 1])]
            blue[lane] = linear[Int(pixels[(start + lane) * 3 + 2])]
        }
        self.init(red: red, green: green, blue: blue)
    }

    /// RGB to XYZ with the white point divided out of the rows.
    @inline(__always)
    private init(red: Lanes, green: Lanes, blue: Lanes) {
        let x =
            red * (0.412453 / 0.95047) + green * (0.357580 / 0.95047) + blue * (0.180423 / 0.95047)
        let y = red * 0.212671 + green * 0.715160 + blue * 0.072169
        let z =
            red * (0.019334 / 1.08883) + green * (0.119193 / 1.08883) + blue * (0.950227 / 1.08883)
        let fx = LabCurve.forward(x)
        let fy = LabCurve.forward(y)
        let fz = LabCurve.forward(z)
        l = 116 * fy - 16
        a = 500 * (fx - fy)
        b = 200 * (fy - fz)
    }

    @inline(__always)
    func storeRGB(in pixels: inout [UInt8], from start: Int, count: Int, encoder: SRGBEncoder) {
        let fy = (l + 16) * (1 / 116)
        let fz = fy - b * (1 / 200)
        let x = LabCurve.inverse(a * (1 / 500) + fy) * 0.95047
        let y = LabCurve.inverse(fy)
        let z = LabCurve.inverse(fz.replacing(with: 0, where: fz .< 0)) * 1.08883
        let red = unit(x * 3.240_481_34 + y * -1.537_151_52 + z * -0.498_536_33)
        let green = unit(x * -0.969_254_95 + y * 1.875_990_0 + z * 0.041_555_927)
        let blue = unit(x * 0.055_646_639 + y * -0.204_041_338 + z * 1.057_311_07)
        for (channel, value) in [red, green, blue].enumerated() {
            for lane in 0..<count {
                pixels[(start + lane) * 3 + channel] = encoder.encode(value[lane])
            }
        }
    }
}

@inline(__always)
private func store(
    _ lanes: LabCurve.Lanes, in plane: inout [Float], from start: Int, count: Int
) {
    for lane in 0..<count { plane[start + lane] = lanes[lane] }
}

/// Clamps to 0…1; NaN becomes 0.
@inline(__always)
private func unit(_ value: LabCurve.Lanes) -> LabCurve.Lanes {
    let nonNegative = LabCurve.Lanes(repeating: 0).replacing(with: value, where: value .> 0)
    return nonNegative.replacing(with: 1, where: nonNegative .> 1)
}
