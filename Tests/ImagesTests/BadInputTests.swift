import Testing

@testable import RetintImages

@Suite struct BadInputTests {
    private func refusal(
        _ data: [UInt8], limits: ImageLimits = .default
    ) -> ImageError? {
        #expect(throws: ImageError.self) { try Image(data: data, name: "photo", limits: limits) }
    }

    @Test(arguments: [
        ("too-wide.bad.png", "20000 × 20 pixels, more than 16384 a side"),
        ("too-many.bad.png", "16000 × 16000 pixels, more than 64000000 in all"),
        ("scans.bad.jpg", "more than 100 scans"),
        ("animated.bad.webp", "it is an animation"),
        ("animated.bad.gif", "it is an animation"),
        ("make_goldens.py", "not an image of a format that is read (it holds text)"),
        ("plane.f32", "its first bytes are unknown"),
        ("missing.png", "No such file or directory; check the path"),
        ("", "it is a directory"),
    ])
    func isRefused(name: String, problem: String) throws {
        let path = Goldens.path(name)
        let error = #expect(throws: ImageError.self) { try Image(contentsOf: path) }
        let text = try #require(error).description
        #expect(text.hasPrefix("\(path): "))
        #expect(text.contains(problem), "\(text)")
    }

    @Test(arguments: [
        ("", "the file is empty"), ("%PDF-1.7", "it is a PDF"), ("....ftypisom", "it is a video"),
    ])
    func otherFormatsAreNamed(content: String, guess: String) throws {
        let error = try #require(refusal(Array(content.utf8)))
        #expect(error.kind == .format)
        #expect(error.problem.contains(guess))
    }

    @Test(arguments: Goldens.all)
    func limitsHoldBeforeDecoding(name: String) throws {
        // The header survives the cut, the image does not.
        let data = try Goldens.bytes(name)
        for limits in [ImageLimits(maximumPixels: 100), ImageLimits(maximumSide: 16)] {
            #expect(try #require(refusal(data, limits: limits)).kind == .limit)
        }
        let large = try #require(refusal(data, limits: ImageLimits(maximumFileBytes: 99)))
        #expect(large.problem.contains("more than 99"))
    }

    @Test func scansWithinTheLimitAreRead() throws {
        let limits = ImageLimits(maximumScans: 200)
        let image = try Image(contentsOf: Goldens.path("scans.bad.jpg"), limits: limits)
        #expect(image.width == 31)
    }

    /// A file that ends early is an error, unless all that it lacks is an end mark.
    @Test(arguments: Goldens.all)
    func truncatedFilesAreErrors(name: String) throws {
        let data = try Goldens.bytes(name)
        let whole = try Image(data: data, name: name)
        for length in 0..<data.count {
            let image = try? Image(data: Array(data.prefix(length)), name: name)
            // Metadata may stand behind the image: without them it is whole, but not turned.
            if let image, name != "orientation-webp.webp" { #expect(image == whole) }
            if length < data.count / 2 { #expect(image == nil) }
        }
    }

    @Test func truncationIsNamed() throws {
        for name in ["jpeg444.jpg", "progressive.jpg", "rgb8.png", "lossy.webp"] {
            let data = try Goldens.bytes(name)
            let error = try #require(refusal(Array(data.prefix(data.count * 3 / 4))))
            #expect(error.problem.contains("the file ends before the image does"), "\(error)")
        }
    }

    @Test(arguments: Goldens.all)
    func damagedFilesAreReadOrRefused(name: String) throws {
        let data = try Goldens.bytes(name)
        let limits = ImageLimits(maximumPixels: 1 << 20)
        var generator = RepeatableGenerator(state: 1)
        for _ in 0..<400 {
            var damaged = data
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let place = Int.random(in: 0..<data.count, using: &generator)
                damaged[place] = UInt8.random(in: 0...255, using: &generator)
            }
            do {
                let image = try Image(data: damaged, name: name, limits: limits)
                #expect(image.pixels.count == 3 * image.width * image.height)
            } catch {
                #expect(!error.problem.isEmpty)
            }
        }
    }
}
