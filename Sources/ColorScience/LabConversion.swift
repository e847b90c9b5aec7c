/// Converts interleaved 8-bit sRGB to Lab planes (D65, 2° observer).
///
/// - Parameter pixels: R, G, B, R, G, B, …
/// - Returns: One value a pixel and plane; L is 0…100.
/// - Precondition: `pixels.count` is a multiple of three.
public func lab(fromRGB pixels: [UInt8]) -> LabPlanes {
    precondition(pixels.count.isMultiple(of: 3), "RGB data must hold three values a pixel")
    let count = pixels.count / 3
    let plane = [Float](repeating: 0, count: count)
    var planes = LabPlanes(l: plane, a: plane, b: plane)
    let linear = SRGBCurve.linear
    let whole = count - count % 8
    for start in stride(from: 0, to: whole, by: 8) {
        LabBlock(rgb: pixels, from: start, count: 8, linear: linear)
            .store(in: &planes, from: start, count: 8)
    }
    LabBlock(rgb: pixels, from: whole, count: count - whole, linear: linear)
        .store(in: &planes, from: whole, count: count - whole)
    return planes
}

/// Converts Lab planes to interleaved 8-bit sRGB: colors outside sRGB are clamped channel by
/// channel, then rounded to the nearest level. A NaN becomes 0.
///
/// - Returns: R, G, B, R, G, B, …, three values a pixel.
/// - Precondition: the planes have one length.
public func rgb(fromLab planes: LabPlanes) -> [UInt8] {
    let count = planes.count
    precondition(planes.a.count == count && planes.b.count == count, "Lab planes differ in length")
    var pixels = [UInt8](repeating: 0, count: count * 3)
    let encoder = SRGBCurve.encoder
    let whole = count - count % 8
    for start in stride(from: 0, to: whole, by: 8) {
        LabBlock(planes: planes, from: start, count: 8)
            .storeRGB(in: &pixels, from: start, count: 8, encoder: encoder)
    }
    LabBlock(planes: planes, from: whole, count: count - whole)
        .storeRGB(in: &pixels, from: whole, count: count - whole, encoder: encoder)
    return pixels
}

/// Eight pixels in Lab: a width that fills vector registers from SSE to AVX.
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
    func store(in planes: inout LabPlanes, from start: Int, count: Int) {
        for lane in 0..<count {
            planes.l[start + lane] = l[lane]
            planes.a[start + lane] = a[lane]
            planes.b[start + lane] = b[lane]
        }
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

/// Clamps to 0…1; what compares false, as NaN does, becomes 0.
@inline(__always)
private func unit(_ value: LabCurve.Lanes) -> LabCurve.Lanes {
    let nonNegative = LabCurve.Lanes(repeating: 0).replacing(with: value, where: value .> 0)
    return nonNegative.replacing(with: 1, where: nonNegative .> 1)
}
