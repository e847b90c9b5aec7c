import Foundation
import RetintVideo
import Testing

/// A picture of spots of several sizes that is defined everywhere, so that it can be looked at from
/// any place.
struct Scene {
    /// Another picture for each seed.
    var seed = 0

    /// L at a place.
    func callAsFunction(_ x: Float, _ y: Float) -> Float {
        50 + 30 * spots(x, y, size: 23) + 30 * spots(x, y, size: 9) + 25 * spots(x, y, size: 4)
    }

    /// Smooth noise in −½…½.
    private func spots(_ x: Float, _ y: Float, size: Float) -> Float {
        let (x, y) = (x / size + 1000, y / size + 1000)
        let (left, top) = (Int(x), Int(y))
        func smooth(_ part: Float) -> Float { part * part * (3 - 2 * part) }
        let (fx, fy) = (smooth(x - Float(left)), smooth(y - Float(top)))
        func value(_ i: Int, _ j: Int) -> Float {
            var bits = UInt32(
                truncatingIfNeeded: (left + i) &* 73_856_093 ^ (top + j) &* 19_349_663)
            bits ^= UInt32(truncatingIfNeeded: seed &* 83_492_791 &+ Int(size))
            bits = (bits ^ bits >> 15) &* 0x2c1b_3c6d
            bits = (bits ^ bits >> 12) &* 0x297a_2d39
            return Float((bits ^ bits >> 15) & 0xffff) / 65_535 - 0.5
        }
        let upper = value(0, 0) + fx * (value(1, 0) - value(0, 0))
        let lower = value(0, 1) + fx * (value(1, 1) - value(0, 1))
        return upper + fy * (lower - upper)
    }

    func pyramid(
        _ width: Int, _ height: Int, gain: Float = 1, _ place: (Float, Float) -> (Float, Float)
    ) -> LightnessPyramid {
        var plane: [Float] = []
        for y in 0..<height {
            for x in 0..<width {
                let (sourceX, sourceY) = place(Float(x), Float(y))
                plane.append(self(sourceX, sourceY) * gain)
            }
        }
        return LightnessPyramid(plane, width: width, height: height)
    }
}

@Suite struct MotionFieldTests {
    /// The mean distance from the true motion, away from the edges.
    private func error(
        _ field: MotionField, margin: Int = 12, _ motion: (Float, Float) -> (Float, Float)
    ) -> Float {
        var (sum, count): (Float, Float) = (0, 0)
        for y in margin..<field.height - margin {
            for x in margin..<field.width - margin {
                let (dx, dy) = motion(Float(x), Float(y))
                let index = y * field.width + x
                let (offX, offY) = (field.dx[index] - dx, field.dy[index] - dy)
                sum += (offX * offX + offY * offY).squareRoot()
                count += 1
            }
        }
        return sum / count
    }

    @Test(arguments: [(0, 0), (1.25, -0.5), (-4.75, 3.5), (11, -9)] as [(Float, Float)])
    func findsATranslation(_ dx: Float, _ dy: Float) {
        let scene = Scene()
        let field = MotionField(
            from: scene.pyramid(128, 96) { ($0, $1) },
            to: scene.pyramid(128, 96) { ($0 - dx, $1 - dy) })
        let distance = error(field) { _, _ in (dx, dy) }
        #expect(distance < 0.1)
        let share = field.explainedShare
        #expect(share > 0.85)
    }

    @Test func findsAZoomWhileTheExposureChanges() {
        let scene = Scene()
        let field = MotionField(
            from: scene.pyramid(128, 96) { ($0, $1) },
            to: scene.pyramid(128, 96, gain: 1.15) { x, y in
                (64 + (x - 64) * 0.96, 48 + (y - 48) * 0.96)
            })
        let distance = error(field) { x, y in
            ((x - 64) * (1 / 0.96 - 1), (y - 48) * (1 / 0.96 - 1))
        }
        #expect(distance < 0.15)
        let share = field.explainedShare
        #expect(share > 0.9)
    }

    @Test func equalFramesAreFullyReliable() {
        let frame = Scene().pyramid(64, 48) { ($0, $1) }
        let field = MotionField(from: frame, to: frame)
        let (share, least) = (field.explainedShare, field.reliability.min() ?? 0)
        #expect(share == 1 && least > 0.999)
        let farthest = field.dx.map(abs).max() ?? 1
        #expect(farthest < 1e-3)
    }

    @Test(arguments: 1..<9) func anotherSceneIsACut(_ seed: Int) {
        let field = MotionField(
            from: Scene(seed: seed).pyramid(96, 96) { ($0, $1) },
            to: Scene().pyramid(96, 96) { ($0, $1) })
        let (isCut, share) = (field.isSceneCut, field.explainedShare)
        #expect(isCut, "explained: \(share)")
    }

    @Test func aFlatFrameIsACutFromAPictureAndNotFromAFlatOne() {
        let picture = Scene().pyramid(64, 64) { ($0, $1) }
        let black = LightnessPyramid([Float](repeating: 0, count: 64 * 64), width: 64, height: 64)
        let gray = LightnessPyramid([Float](repeating: 50, count: 64 * 64), width: 64, height: 64)
        let cuts = [
            MotionField(from: picture, to: black), MotionField(from: black, to: picture),
            MotionField(from: gray, to: black),
        ].map(\.isSceneCut)
        #expect(cuts == [true, true, false])
    }

    @Test(arguments: [(8, 8), (9, 31), (17, 8), (100, 13)])
    func worksAtAnySize(_ width: Int, _ height: Int) {
        let frame = Scene().pyramid(width, height) { ($0, $1) }
        let field = MotionField(from: frame, to: frame)
        let (count, farthest) = (field.dx.count, (field.dx + field.dy).map(abs).max() ?? 1)
        #expect(count == width * height && farthest < 0.01)
    }
}
