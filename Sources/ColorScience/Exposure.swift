import Glibc

/// The pixels of an image with another exposure: linear light times 2^stops, clamped.
///
/// - Parameters:
///   - pixels: interleaved 8-bit sRGB.
///   - stops: 1 doubles the light.
package func exposed(_ pixels: [UInt8], stops: Double) -> [UInt8] {
    let table = (0...255).map { level -> UInt8 in
        let light = SRGBCurve.decode(Double(level) / 255) * exp2(stops)
        return UInt8((SRGBCurve.encode(min(light, 1)) * 255).rounded())
    }
    return pixels.map { table[Int($0)] }
}
