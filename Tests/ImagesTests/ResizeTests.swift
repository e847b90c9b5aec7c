import Testing

@testable import RetintImages

@Suite struct ResizeTests {
    /// As in Goldens/make_goldens.py, in the order in which the files hold them.
    private static let sizes = [
        (13, 9), (31, 7), (5, 22), (40, 33), (1, 1), (64, 5), (28, 14), (29, 18), (90, 1),
    ]

    @Test(arguments: ResampleFilter.allCases)
    func bytesEqualPillow(filter: ResampleFilter) throws {
        let source = try Goldens.image("rgb8.png")
        var expected = try Goldens.bytes("resized-\(filter).rgb")[...]
        for (width, height) in Self.sizes {
            let image = source.resized(to: width, height: height, filter: filter)
            let pixels = expected.prefix(3 * width * height)
            expectEqual(image, Image(width: width, height: height, pixels: Array(pixels)))
            expected = expected.dropFirst(pixels.count)
        }
        #expect(expected.isEmpty)
    }

    @Test(arguments: ResampleFilter.allCases)
    func numbersEqualPillow(filter: ResampleFilter) throws {
        let source = try Goldens.floats("plane.f32")
        var expected = try Goldens.floats("resized-\(filter).f32")[...]
        for (width, height) in Self.sizes {
            let plane = resizePlane(
                source, width: 31, height: 22, toWidth: width, toHeight: height, filter: filter)
            let difference = zip(plane, expected).map { abs($0 - $1) }.max() ?? .infinity
            #expect(plane.count == width * height)
            #expect(difference <= 1e-4)
            expected = expected.dropFirst(plane.count)
        }
        #expect(expected.isEmpty)
    }

    @Test(arguments: ResampleFilter.allCases)
    func oneColorStays(filter: ResampleFilter) {
        let image = Image(width: 301, height: 7, red: 255, green: 128, blue: 3)
        let resized = image.resized(to: 20, height: 19, filter: filter)
        #expect(resized == Image(width: 20, height: 19, red: 255, green: 128, blue: 3))
    }

    @Test func ownSizeChangesNothing() throws {
        let image = try Goldens.image("rgb8.png")
        #expect(image.resized(to: 31, height: 22) == image)
    }
}
