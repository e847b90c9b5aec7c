import Foundation
import RetintColor
import RetintImages
import RetintTestSupport
import Testing

@testable import RetintPhotoData

/// Masks in memory and in files.
@Suite struct ColorMaskTests {
    @Test func valuesAreKeptWithinTheirRange() {
        let mask = ColorMask(width: 5, height: 1, values: [-1, 0.25, 2, .nan, .infinity])
        #expect(mask.values == [0, 0.25, 1, 0, 1])
    }

    @Test func whiteIsOne() throws {
        let image = Image(width: 3, height: 1, pixels: [0, 0, 0, 51, 51, 51, 255, 255, 255])
        #expect(ColorMask(image).values == [0, 0.2, 1])
    }

    /// Pillow rounds to a level after each of six passes.
    @Test(arguments: ["0.4", "1.5", "6", "40"])
    func featheringIsThatOfPillow(_ deviation: String) throws {
        let mask = try ColorMask(contentsOf: goldenPath("mask.png"))
        let expected = try ColorMask(contentsOf: goldenPath("mask-\(deviation).png"))
        let soft = mask.feathered(try #require(Float(deviation)))
        #expect((soft.width, soft.height) == (50, 37))
        let differences = zip(soft.values, expected.values).map { abs($0 - $1) * 255 }
        #expect(try #require(differences.max()) < 2.6)
        #expect(differences.reduce(0, +) / Float(differences.count) < 0.6)
    }

    @Test func featheringKeepsTheMean() {
        var values = [Float](repeating: 0, count: 101 * 101)
        values[50 * 101 + 50] = 1
        let soft = ColorMask(width: 101, height: 101, values: values).feathered(3)
        #expect(abs(soft.values.reduce(0, +) - 1) < 1e-4)
        // The variance of a Gaussian, along both axes.
        var (across, down) = (Float(0), Float(0))
        for (index, value) in soft.values.enumerated() {
            let (x, y) = (Float(index % 101 - 50), Float(index / 101 - 50))
            (across, down) = (across + value * x * x, down + value * y * y)
        }
        #expect(abs(across - 9) < 0.01 && abs(down - 9) < 0.01)
        let full = ColorMask(width: 3, height: 2, values: [1, 1, 1, 1, 1, 1])
        #expect(full.feathered(500).values.allSatisfy { abs($0 - 1) < 1e-5 })
        #expect(full.feathered(0) == full)
    }

    private func mixed(_ share: Float, _ photo: Image, _ copy: Image) -> Image {
        let mask = ColorMask(
            width: photo.width, height: photo.height,
            values: [Float](repeating: share, count: photo.width * photo.height))
        return photo.mixed(with: copy, mask: mask, blend: 1)
    }

    @Test func colorsAreMixedInLab() throws {
        let photo = try Image(contentsOf: goldenPath("scene.png"))
        let zeros = [Float](repeating: 0, count: photo.width * photo.height)
        let copy = photo.withColor(a: zeros.map { _ in 14 }, b: zeros.map { _ in -11 })
        #expect(mixed(0, photo, copy) == photo && mixed(1, photo, copy) == copy)
        #expect(photo.mixed(with: copy, mask: nil, blend: 1) == copy)
        #expect(photo.mixed(with: copy, mask: nil, blend: 0) == photo)
        let quarter = mixed(0.25, photo, copy)
        #expect(photo.mixed(with: copy, mask: nil, blend: 0.25) == quarter)
        let (own, new, found) = (
            lab(fromRGB: photo.pixels), lab(fromRGB: copy.pixels), lab(fromRGB: quarter.pixels)
        )
        var checked = 0
        for pixel in own.l.indices where (30...75).contains(own.l[pixel]) {
            guard abs(own.a[pixel]) < 30, abs(own.b[pixel]) < 30 else { continue }
            checked += 1
            #expect(abs(found.l[pixel] - own.l[pixel]) < 0.6)
            #expect(abs(found.a[pixel] - 0.75 * own.a[pixel] - 0.25 * new.a[pixel]) < 1)
            #expect(abs(found.b[pixel] - 0.75 * own.b[pixel] - 0.25 * new.b[pixel]) < 1)
        }
        #expect(checked > 200)
    }

    @Test func maskAndBlendMultiply() throws {
        let photo = try Image(contentsOf: goldenPath("scene.png"))
        let mask = try ColorMask(
            contentsOf: goldenPath("mask.png")
        ).feathered(3)
        let half = ColorMask(width: 50, height: 37, values: mask.values.map { $0 * 0.5 })
        let scene = photo.cropped(x: 0, y: 0, width: 50, height: 37)
        let direct = scene.mixed(with: scene.gray, mask: mask, blend: 0.5)
        #expect(direct == scene.mixed(with: scene.gray, mask: half, blend: 1))
        let quadrilateral = try Quadrilateral(parsing: "5,5 40,6 41,30 4,33")
        let picture = try scene.straightened(quadrilateral).gray
        let both = scene.mixed(with: picture, on: quadrilateral, mask: mask, blend: 0.5)
        for pixel in mask.values.indices where mask.values[pixel] == 0 {
            #expect(both.pixels[3 * pixel] == scene.pixels[3 * pixel])
        }
        #expect(both != scene)
        #expect(
            both
                == scene.mixed(
                    with: picture, on: quadrilateral, mask: half, blend: 1))
    }
}
