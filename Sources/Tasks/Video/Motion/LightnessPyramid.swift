import CRetintMotion

/// The lightness of a frame at several resolutions, each half of the previous one, as the search
/// for motion needs it.
package struct LightnessPyramid: Sendable {
    /// The size of the finest resolution.
    package let width, height: Int
    /// The finest first.
    let levels: [Level]

    struct Level: Sendable {
        let width, height: Int
        /// With a border of `MO_BORDER` samples that repeat those at the edges.
        let padded: [Float]

        init(_ plane: [Float], width: Int, height: Int) {
            (self.width, self.height) = (width, height)
            let border = 2 * Int(MO_BORDER)
            padded = floats((width + border) * (height + border)) {
                mo_pad(plane, Int32(width), Int32(height), $0)
            }
        }

        func withPlane<Value>(_ body: (mo_plane) -> Value) -> Value {
            padded.withUnsafeBufferPointer { buffer in
                let border = Int(MO_BORDER), pitch = width + 2 * border
                let first = buffer.baseAddress! + border * pitch + border
                return body(
                    mo_plane(
                        samples: first, pitch: pitch, width: Int32(width), height: Int32(height)))
            }
        }
    }

    /// The shortest side of the coarsest resolution.
    private static let coarsest = 16

    /// - Parameters:
    ///   - lightness: L in 0…100, row by row from the top.
    ///   - width: at least ``minimumSide``.
    ///   - height: at least ``minimumSide``.
    package init(_ lightness: [Float], width: Int, height: Int) {
        precondition(
            min(width, height) >= Self.minimumSide && lightness.count == width * height,
            "a pyramid of \(lightness.count) values, \(width) × \(height)")
        (self.width, self.height) = (width, height)
        var (plane, width, height) = (lightness, width, height)
        var levels = [Level(plane, width: width, height: height)]
        while min(width, height) / 2 >= Self.coarsest {
            let half = floats((width / 2) * (height / 2)) {
                mo_halve(plane, Int32(width), Int32(height), $0)
            }
            (plane, width, height) = (half, width / 2, height / 2)
            levels.append(Level(plane, width: width, height: height))
        }
        self.levels = levels
    }

    /// The shortest side of a frame whose motion can be estimated, in pixels.
    package static let minimumSide = Int(MO_PATCH)
}

/// An array that a C function fills.
func floats(_ count: Int, _ fill: (UnsafeMutablePointer<Float>) -> Void) -> [Float] {
    [Float](unsafeUninitializedCapacity: count) { buffer, initialized in
        fill(buffer.baseAddress!)
        initialized = count
    }
}
