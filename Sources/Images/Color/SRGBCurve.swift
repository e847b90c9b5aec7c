import Glibc

/// The sRGB transfer curve, tabulated for 8-bit colors.
package enum SRGBCurve {
    /// Linear light 0…1 for each 8-bit level.
    package static let linear: [Float] = (0...255).map { Float(decode(Double($0) / 255)) }

    /// The linear light above which the nearest 8-bit level is 1, 2, …, 255.
    package static let boundaries = exactBoundaries.map(Float.init)

    fileprivate static let exactBoundaries = (1...255).map { decode((Double($0) - 0.5) / 255) }

    /// Linear light 0…1 to the nearest 8-bit level.
    static let encoder = SRGBEncoder()

    /// Encoded 0…1 to linear light 0…1.
    static func decode(_ value: Double) -> Double {
        value > 0.04045 ? pow((value + 0.055) / 1.055, 2.4) : value / 12.92
    }

    /// Linear light 0…1 to encoded 0…1.
    static func encode(_ value: Double) -> Double {
        value > 0.0031308 ? 1.055 * pow(value, 1 / 2.4) - 0.055 : 12.92 * value
    }
}

/// Rounds linear light to 8-bit sRGB without evaluating a power.
///
/// Linear light is divided into 4096 cells. The narrowest level spans 3.04e-4 of linear light, a
/// cell 2.44e-4, so a cell contains at most one boundary between levels: one comparison suffices.
struct SRGBEncoder: Sendable {
    static let cells = 4096

    /// The level at each cell's lower edge.
    let level: [UInt8]

    /// The linear light above which the cell's level is one higher.
    let boundary: [Float]

    init() {
        let boundaries = SRGBCurve.exactBoundaries
        var level: [UInt8] = []
        var boundary: [Float] = []
        var next = 0
        for cell in 0...Self.cells {
            let edge = Double(cell) / Double(Self.cells)
            while next < 255, boundaries[next] <= edge { next += 1 }
            level.append(UInt8(next))
            boundary.append(next < 255 ? Float(boundaries[next]) : .infinity)
        }
        self.level = level
        self.boundary = boundary
    }

    /// The 8-bit level of linear light, 0…1.
    @inline(__always)
    func encode(_ value: Float) -> UInt8 {
        let cell = Int(value * Float(Self.cells))
        return level[cell] &+ (value > boundary[cell] ? 1 : 0)
    }
}
