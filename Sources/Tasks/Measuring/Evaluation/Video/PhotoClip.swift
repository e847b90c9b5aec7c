import RetintColor
import RetintImages
import RetintVideo

/// A short video made from a photo, so that the motion of each pixel is known exactly.
package struct PhotoClip {
    /// What happens in the clip.
    package enum Kind: String, CaseIterable, Sendable {
        /// The camera turns to one side.
        case pan
        /// The camera moves back.
        case zoom
        /// The camera stands still, and the exposure grows by 1.5 stops.
        case exposure
    }

    /// The number of frames of a clip.
    package static let frameCount = 16

    /// The size of the frames in pixels.
    package let width, height: Int
    private let kind: Kind
    /// The photo, larger than a frame by ``reach``.
    private let canvas: Image
    private let direction: SIMD2<Float>

    private static let reach: Float = 4.0 / 3
    private static let stops = -0.75...0.75
    /// The directions of the pan, used in turn from photo to photo.
    private static let directions: [SIMD2<Float>] = [
        SIMD2(1, 0), SIMD2(0, 1), SIMD2(-1, 0), SIMD2(0, -1), SIMD2(1, 1), SIMD2(-1, -1),
    ]

    /// - Parameters:
    ///   - photo: in color.
    ///   - index: the index of the photo among others.
    package init(_ photo: Image, _ kind: Kind, index: Int, width: Int, height: Int) {
        (self.width, self.height, self.kind) = (width, height, kind)
        let size = (Float(width) * Self.reach, Float(height) * Self.reach)
        canvas = photo.resized(
            to: Int(size.0.rounded(.up)) + 2, height: Int(size.1.rounded(.up)) + 2)
        direction = Self.directions[index % Self.directions.count]
    }

    /// A frame in color.
    package func frame(_ number: Int) -> Image {
        let window = window(number)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(3 * width * height)
        for y in 0..<height {
            for x in 0..<width {
                canvas.append(at: window.place(x, y), to: &pixels)
            }
        }
        if kind == .exposure {
            let span = Self.stops.upperBound - Self.stops.lowerBound
            let stops = Self.stops.lowerBound + span * Double(part(number))
            pixels = exposed(pixels, stops: stops)
        }
        return Image(width: width, height: height, pixels: pixels)
    }

    /// The motion from a frame back to the one before it, exactly.
    ///
    /// - Parameter number: the number of the frame, at least 1.
    package func motion(_ number: Int) -> MotionField {
        let (now, before) = (window(number), window(number - 1))
        var (dx, dy): ([Float], [Float]) = ([], [])
        for y in 0..<height {
            for x in 0..<width {
                let place = (now.place(x, y) - before.origin) / before.scale
                dx.append(place.x - Float(x))
                dy.append(place.y - Float(y))
            }
        }
        return MotionField(
            width: width, height: height, dx: dx, dy: dy, reliability: dx.map { _ in 1 },
            explainedShare: 1)
    }

    /// The part of the photo that a frame shows.
    private struct Window {
        /// The position of the upper left pixel in the canvas.
        let origin: SIMD2<Float>
        /// Pixels of the canvas from one pixel to the next.
        let scale: Float

        func place(_ x: Int, _ y: Int) -> SIMD2<Float> {
            origin + scale * SIMD2(Float(x), Float(y))
        }
    }

    /// How far the clip is, 0…1.
    private func part(_ number: Int) -> Float { Float(number) / Float(Self.frameCount - 1) }

    private func window(_ number: Int) -> Window {
        let size = SIMD2(Float(width), Float(height)), room = (Self.reach - 1) * size
        let middle = room / 2 + 1
        switch kind {
        case .pan: return Window(origin: middle + (part(number) - 0.5) * direction * room, scale: 1)
        case .zoom:
            let scale = 1 + (Self.reach - 1) * part(number)
            return Window(origin: 1 + (Self.reach - scale) * size / 2, scale: scale)
        case .exposure: return Window(origin: middle, scale: 1)
        }
    }
}

extension Image {
    /// Adds the pixel at a fractional position, by cubic interpolation (Catmull and Rom 1974).
    fileprivate func append(at place: SIMD2<Float>, to target: inout [UInt8]) {
        let (left, top) = (Int(place.x.rounded(.down)), Int(place.y.rounded(.down)))
        let across = Self.weights(place.x - Float(left)), down = Self.weights(place.y - Float(top))
        var sum = SIMD3<Float>(repeating: 0.5)
        for row in 0..<4 {
            let y = min(max(top - 1 + row, 0), height - 1)
            for column in 0..<4 {
                let x = min(max(left - 1 + column, 0), width - 1), start = 3 * (y * width + x)
                let color = SIMD3(
                    Float(pixels[start]), Float(pixels[start + 1]), Float(pixels[start + 2]))
                sum += down[row] * across[column] * color
            }
        }
        sum.clamp(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
        for channel in 0..<3 { target.append(UInt8(sum[channel])) }
    }

    private static func weights(_ t: Float) -> SIMD4<Float> {
        SIMD4(
            t * (-0.5 + t * (1 - 0.5 * t)), 1 + t * t * (-2.5 + 1.5 * t),
            t * (0.5 + t * (2 - 1.5 * t)), t * t * (-0.5 + 0.5 * t))
    }
}
