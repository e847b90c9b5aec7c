import Glibc
import RetintFiles
import Testing

@testable import RetintImages

@Suite struct WritingTests {
    @Test(arguments: [0, 1, 6, 9, 99])
    func pngKeepsEveryByte(level: Int) throws {
        let image = try Goldens.image("rgb8.png")
        #expect(try Image(data: image.encode(.png(level: level)), name: "png") == image)
    }

    /// A PNG of several blocks: bytes that deflate copies from the block before, rows of each
    /// filter, and any number of threads.
    @Test(arguments: [0, 1, 2, 6, 9], [(700, 500), (1, 16_384), (16_383, 7), (5000, 90)])
    func pngBlocksAreOneImage(level: Int, size: (width: Int, height: Int)) throws {
        let (width, height) = size
        var state: UInt32 = 1
        let pixels = (0..<3 * width * height).map { index -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            let (row, column) = (index / (3 * width), index % (3 * width))
            switch row * 5 / height {
            case 0: return UInt8(truncatingIfNeeded: state >> 24)
            case 1: return UInt8(truncatingIfNeeded: column / 3 * 2)
            case 2: return UInt8(truncatingIfNeeded: column % 251 * (column % 7))
            case 3: return UInt8(truncatingIfNeeded: row + column / 3)
            default: return UInt8(truncatingIfNeeded: row &* row + column + Int(state >> 31))
            }
        }
        let image = Image(width: width, height: height, pixels: pixels)
        let bytes = try image.encode(.png(level: level), file: "png")
        #expect(try Image(data: bytes, name: "png") == image)
        for threads in [2, 3] {
            let same = try image.encode(.png(level: level), file: "png", threads: threads)
            #expect(same == bytes)
        }
    }

    /// As small as libpng's, which chooses filters by the same rule: it writes 13096 bytes
    /// (libpng 1.6.39, all filters, level 6).
    @Test func pngIsSmall() throws {
        let image = try Goldens.image("scaled-1.expected.png")
        let count = try image.encode(.png(level: 6)).count
        #expect(abs(count - 13096) < 13096 / 100)
    }

    @Test func pngLevelsDiffer() throws {
        let image = try Goldens.image("rgb8.png")
        #expect(try image.encode(.png(level: 0)).count > image.encode(.png(level: 9)).count)
    }

    /// The mean difference, in levels, that a round trip may cause.
    @Test(arguments: [(100, 1.0), (95, 3.0), (60, 16.0), (1, 60.0)])
    func jpegStaysClose(quality: Int, bound: Double) throws {
        let image = try Goldens.image("scaled-1.expected.png")
        let read = try Image(data: image.encode(.jpeg(quality: quality)), name: "jpeg")
        let differences = zip(read.pixels, image.pixels).map { abs(Double($0) - Double($1)) }
        #expect(differences.reduce(0, +) / Double(differences.count) < bound)
    }

    @Test func onePixelSurvives() throws {
        let image = Image(width: 1, height: 1, red: 10, green: 200, blue: 90)
        #expect(try Image(data: image.encode(.png()), name: "png") == image)
        let jpeg = try Image(data: image.encode(.jpeg(quality: 100)), name: "jpeg")
        expectEqual(jpeg, image, tolerance: 2)
    }

    @Test func sidesBeyondJPEGAreRefused() throws {
        let image = Image(width: 65_501, height: 1, red: 0, green: 0, blue: 0)
        let error = #expect(throws: ImageError.self) { try image.encode(.jpeg()) }
        #expect(try #require(error).problem.contains("65500"))
    }

    @Test func extensionNamesTheFormat() {
        #expect(ImageFormat(path: "a.b/photo.PNG") == .png())
        #expect(ImageFormat(path: "photo.jpeg") == .jpeg())
        #expect(ImageFormat(path: "photo.JPG") == .jpeg())
        for path in ["photo", "a.png/photo", "photo.webp", ".", ""] {
            #expect(ImageFormat(path: path) == nil)
        }
    }

    @Test func writtenFileIsReadBack() throws {
        let path = "/tmp/retint-image-\(UInt64.random(in: 0 ... .max)).png"
        defer { unlink(path) }
        let image = try Goldens.image("rgb8.png")
        try image.write(to: path)
        #expect(try Image(contentsOf: path) == image)
    }

    @Test func wrongPlacesAreRefused() throws {
        let image = Image(width: 1, height: 1, red: 0, green: 0, blue: 0)
        for path in ["/tmp/retint.gif", "/tmp/retint-no-such-directory/a.png", "/dev/null"] {
            let error = #expect(throws: ImageError.self) { try image.write(to: path) }
            #expect(try #require(error).file == path)
        }
    }
}
