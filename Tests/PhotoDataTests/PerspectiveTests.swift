import Foundation
import RetintColor
import RetintImages
import RetintTestSupport
import Testing

@testable import RetintPhotoData

/// Pictures in perspective. Expected values are OpenCV's and Pillow's, see
/// `Goldens/make_goldens.py`.
@Suite struct PerspectiveTests {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let size: [Int]
        let corners, back: [[Double]]
        let matrix: [Double]

        var testDescription: String { name }

        func quadrilateral() throws -> Quadrilateral {
            try Quadrilateral(corners.map { SIMD2($0[0], $0[1]) })
        }
    }

    static let cases: [Case] = {
        let data = try? Data(contentsOf: URL(filePath: goldenPath("perspective.json")))
        return data.flatMap { try? JSONDecoder().decode([Case].self, from: $0) } ?? []
    }()

    @Test func goldensAreThere() { #expect(Self.cases.count == 5) }

    @Test(arguments: cases)
    func homographyIsThatOfOpenCV(_ test: Case) throws {
        let map = Homography(
            fromWidth: Double(test.size[0]), height: Double(test.size[1]),
            to: try test.quadrilateral())
        let values = map.matrix.flatMap { [$0.x, $0.y, $0.z] }
        for (value, expected) in zip(values, test.matrix) {
            #expect(abs(value - expected) < 1e-9 * max(abs(expected), 1))
        }
        // Corners go to corners, and back.
        let (width, height) = (Double(test.size[0]), Double(test.size[1]))
        let rectangle = [SIMD2(0, 0), SIMD2(width, 0), SIMD2(width, height), SIMD2(0, height)]
        for (corner, target) in zip(rectangle, test.corners) {
            let mapped = map(corner), back = map.inverse(mapped)
            #expect(abs(mapped.x - target[0]) < 1e-9 && abs(mapped.y - target[1]) < 1e-9)
            #expect(abs(back.x - corner.x) < 1e-9 && abs(back.y - corner.y) < 1e-9)
        }
    }

    @Test(arguments: cases)
    func straighteningIsThatOfPillow(_ test: Case) throws {
        let scene = try Image(contentsOf: goldenPath("scene.png"))
        let straight = try scene.straightened(test.quadrilateral())
        let expected = try Image(contentsOf: goldenPath("straight-\(test.name).png"))
        try #require((straight.width, straight.height) == (test.size[0], test.size[1]))
        let differences = zip(straight.pixels, expected.pixels).map { abs(Int($0) - Int($1)) }
        #expect(differences.allSatisfy { $0 <= 1 })
        // Pillow rounds down where this rounds to the nearest level.
        if test.name == "whole" { #expect(straight == scene) }
    }

    /// OpenCV rounds coordinates to 1/32 of a pixel; a wrong half pixel is 10 here.
    @Test(arguments: cases)
    func theWayBackIsThatOfOpenCV(_ test: Case) throws {
        let (width, height) = (test.size[0], test.size[1])
        let plane = (0..<width * height).map {
            Float(60 * sin(Double($0 % width) / 4) + 40 * cos(Double($0 / width) / 3))
        }
        let map = Homography(
            fromWidth: Double(width), height: Double(height), to: try test.quadrilateral()
        ).inverse
        for point in test.back {
            let cell = Cell(
                map(SIMD2(point[0] + 0.5, point[1] + 0.5)), width: width, height: height)
            #expect(abs(Double(cell.value { plane[$0] }) - point[2]) < 0.6)
        }
        #expect(test.back.count > 10 || test.name == "small")
    }

    @Test func coverageIsTheArea() throws {
        var random = Repeatable()
        var checked = 0
        while checked < 40 {
            let corners = (0..<4).map { index in
                let angle = (Double(index) + random.next()) * .pi / 2 - 2.4
                let radius = 2 + 12 * random.next()
                return SIMD2(16 + radius * cos(angle), 16 + radius * sin(angle))
            }
            guard let quadrilateral = try? Quadrilateral(corners) else { continue }
            checked += 1
            let coverage = Coverage(quadrilateral)
            let bounds = coverage.bounds(width: 32, height: 32)
            var sum = 0.0, moment = SIMD2<Double>.zero
            for y in bounds.rows {
                for x in bounds.columns {
                    guard let part = coverage.part(x: x, y: y) else { continue }
                    #expect((0...1).contains(part.area))
                    #expect(abs(part.center.x - Double(x) - 0.5) <= 0.5)
                    #expect(abs(part.center.y - Double(y) - 0.5) <= 0.5)
                    sum += part.area
                    moment += part.area * part.center
                }
            }
            let exact = Self.area(corners)
            #expect(abs(sum - exact.area) < 1e-9 * exact.area)
            #expect(abs(moment.x - exact.moment.x) < 1e-6 && abs(moment.y - exact.moment.y) < 1e-6)
        }
    }

    private static func area(
        _ corners: [SIMD2<Double>]
    ) -> (area: Double, moment: SIMD2<Double>) {
        var (area, moment) = (0.0, SIMD2<Double>.zero)
        for index in corners.indices {
            let (p, q) = (corners[index], corners[(index + 1) % corners.count])
            let cross = p.x * q.y - q.x * p.y
            area += cross / 2
            moment += cross / 6 * (p + q)
        }
        return (area, moment)
    }

    @Test func onlyColorsOfThePictureChange() throws {
        let scene = try Image(contentsOf: goldenPath("scene.png"))
        let quadrilateral = try Quadrilateral(parsing: "10,6.5 50,9 47.5,40 12,36")
        let straight = try scene.straightened(quadrilateral)
        let picture = straight.withColor(
            a: [Float](repeating: 12, count: straight.width * straight.height),
            b: [Float](repeating: -9, count: straight.width * straight.height))
        let gray = scene.gray
        let result = gray.mixed(with: picture, on: quadrilateral, mask: nil, blend: 1)
        let before = lab(fromRGB: gray.pixels), after = lab(fromRGB: result.pixels)
        let coverage = Coverage(quadrilateral)
        var partial = 0
        for pixel in before.l.indices {
            let area = Float(
                coverage.part(x: pixel % scene.width, y: pixel / scene.width)?.area ?? 0)
            #expect(abs(before.l[pixel] - after.l[pixel]) < 0.6)
            guard area > 0 else {
                let bytes = 3 * pixel..<3 * pixel + 3
                #expect(result.pixels[bytes] == gray.pixels[bytes])
                continue
            }
            // Dark and light colors leave sRGB.
            guard (25...80).contains(before.l[pixel]) else { continue }
            if area < 1 { partial += 1 }
            #expect(abs(after.a[pixel] - 12 * area) < 1.5)
            #expect(abs(after.b[pixel] + 9 * area) < 1.5)
        }
        #expect(partial > 30)
    }

    @Test(arguments: [
        ("0,0 9,0 9,9", "not four corners"), ("0,0 9,0 9,9 0", "not four corners"),
        ("0,0 9,0 9,9 0,9 1,1", "not four corners"), ("", "not four corners"),
        ("0,0 9,0 9,9 0,x", "not four corners"), ("0,0 9,0 9,9 0,9,1", "not four corners"),
        ("0,0 9,0 9,9 0,nan", "pixels of a photo"), ("0,0 9,0 9,9 0,inf", "pixels of a photo"),
        ("0,0 9,0 9,9 0,1e7", "pixels of a photo"),
        ("0,0 0,9 9,9 9,0", "counterclockwise"), ("0,0 9,9 9,0 0,9", "not convex"),
        ("0,0 9,0 2,2 0,9", "not convex"), ("0,0 4,0 9,0 0,9", "on one line"),
        ("0,0 0,0 9,9 0,9", "on one line"), ("5,5 5,5 5,5 5,5", "on one line"),
        ("0,0 0.9,0 0.9,0.9 0,0.9", "on one line"),
    ])
    func wrongCornersAreErrors(_ text: String, _ words: String) throws {
        let error = #expect(throws: PhotoError.self) { try Quadrilateral(parsing: text) }
        #expect(try #require(error).kind == .corners)
        #expect(try #require(error).description.contains(words), "\(error!)")
    }

    @Test func cornersBeyondThePhotoAreErrors() throws {
        let scene = Image(width: 20, height: 10, red: 1, green: 2, blue: 3)
        #expect(try scene.straightened(Quadrilateral(parsing: "0,0 20,0 20,10 0,10")) == scene)
        for text in ["0,0 20.5,0 20,10 0,10", "0,0 20,0 20,10.01 0,10", "-1,0 20,0 20,10 0,10"] {
            let error = #expect(throws: PhotoError.self) {
                try scene.straightened(Quadrilateral(parsing: text))
            }
            #expect(try #require(error).kind == .outside)
            #expect(try #require(error).description.contains("20 × 10"))
        }
    }

    @Test func pointsThatAreNoNumbersAreTheFirstPixel() {
        for point in [SIMD2(Double.nan, .nan), SIMD2(-.infinity, 3), SIMD2(.infinity, .nan)] {
            let cell = Cell(point, width: 4, height: 2)
            #expect(cell.value { Float($0) }.isFinite)
        }
    }

    /// Longer sides than the photo's make no larger picture.
    @Test func picturesHaveNoMorePixelsThanThePhoto() throws {
        let scene = Image(width: 200, height: 100, red: 1, green: 2, blue: 3)
        let straight = try scene.straightened(Quadrilateral(parsing: "0,0 200,0 5,100 0,50"))
        #expect((straight.width, straight.height) == (135, 148))
        let thin = try scene.straightened(Quadrilateral(parsing: "0,0 190,92 200,100 0,8"))
        #expect((thin.width, thin.height) == (220, 13))
    }
}

/// The same values in every run.
private struct Repeatable {
    private var state: UInt64 = 7

    mutating func next() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) / Double(1 << 53)
    }
}
