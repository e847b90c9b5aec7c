import RetintImages
import RetintTensors

extension Image {
    /// A gray copy that looks old; nil if no damage was drawn for it.
    ///
    /// Each kind of damage has its own random numbers, so that turning one on does not change
    /// the others.
    ///
    /// - Parameters:
    ///   - settings: the kinds of damage.
    ///   - seed: together with `name` it determines the copy, on any machine.
    ///   - name: distinguishes the photos of one seed.
    /// - Throws: `ImageError` if the photo is too large for JPEG compression.
    public func asOldPhoto(
        _ settings: OldPhotoSettings, seed: UInt64, name: String
    ) throws(ImageError) -> Image? {
        let chosen = settings.drawn(seed: seed, name: name)
        guard !chosen.isEmpty else { return nil }
        var photo = OldPhoto(self, settings)
        for damage in OldPhotoSettings.Damage.allCases {
            if var random = chosen[damage] { try photo.add(damage, &random) }
        }
        return photo.image
    }
}

extension OldPhotoSettings {
    /// The kinds of damage that a photo gets, with the random numbers of how it gets them.
    ///
    /// The parameters are those of `asOldPhoto`.
    package func drawn(seed: UInt64, name: String) -> [Damage: RandomStream] {
        var chosen: [Damage: RandomStream] = [:]
        for damage in Damage.allCases where self[damage] > 0 {
            var random = RandomStream(seed: seed, name: "old photo \(damage) \(name)")
            if random.uniform() < self[damage] { chosen[damage] = random }
        }
        return chosen
    }
}

/// A gray photo that gets damage, in the order in which it occurs in reality.
private struct OldPhoto {
    private let width, height: Int
    private let settings: OldPhotoSettings
    /// The photo in color, for toning.
    private let original: Image
    /// Gray levels, 0…255, row by row.
    private var levels: [Float]

    init(_ photo: Image, _ settings: OldPhotoSettings) {
        (width, height, original, self.settings) = (photo.width, photo.height, photo, settings)
        levels = photo.gray.firstChannel
    }

    var image: Image {
        let pixels = [UInt8](unsafeUninitializedCapacity: 3 * levels.count) { pixels, count in
            count = 3 * levels.count
            for (index, level) in levels.enumerated() {
                let byte = UInt8(min(max(level.rounded(), 0), 255))
                for channel in 0..<3 { pixels[3 * index + channel] = byte }
            }
        }
        return Image(width: width, height: height, pixels: pixels)
    }

    /// A pixel of a photo whose shorter side has 256 pixels, in pixels of this one.
    private var unit: Double { Double(min(width, height)) / 256 }

    mutating func add(
        _ damage: OldPhotoSettings.Damage, _ random: inout RandomStream
    ) throws(ImageError) {
        switch damage {
        case .sepia: tone()
        case .fading: fade(&random)
        case .blur: blur(settings.blurDeviation * random.amount() * unit)
        case .grain: addGrain(&random)
        case .scratches: scratch(&random)
        case .dust: addDust(&random)
        case .jpeg: try compress(&random)
        }
    }

    /// Fades blacks more than whites.
    private mutating func fade(_ random: inout RandomStream) {
        let loss = Float(settings.fadingStrength * random.amount())
        let lifted = 255 * loss * Float(0.5 + 0.5 * random.uniform())
        levels = levels.map { lifted + $0 * (1 - loss) }
    }

    private mutating func blur(_ deviation: Double) {
        let filter = BoxFilter(deviation: deviation, passes: 3)
        for _ in 0..<filter.passes {
            filter.blurRows(of: &levels, width: width, height: height)
            filter.blurColumns(of: &levels, width: width, height: height)
        }
    }

    /// Noise of constant strength, like video developed to normal contrast.
    private mutating func addGrain(_ random: inout RandomStream) {
        let deviation = Float(settings.grainDeviation * random.amount())
        levels.withUnsafeMutableBufferPointer { levels in
            for index in levels.indices { levels[index] += deviation * Float(random.normal()) }
        }
    }

    private mutating func compress(_ random: inout RandomStream) throws(ImageError) {
        let quality = min(max(settings.jpegQuality, 1) + Int(random.next() % 31), 100)
        let bytes = try image.encode(.jpeg(quality: quality))
        levels = try Image(data: bytes, name: "the compressed copy").firstChannel
    }
}

// MARK: Toning

extension OldPhoto {
    /// The sepia tone of CSS (W3C, "Filter Effects Module Level 1"), in gray.
    private mutating func tone() {
        let strength = Float(settings.sepiaStrength)
        var pixels = original.pixels
        pixels.withUnsafeMutableBufferPointer { pixels in
            for start in stride(from: 0, to: pixels.count, by: 3) {
                let color = SIMD3(
                    Float(pixels[start]), Float(pixels[start + 1]), Float(pixels[start + 2]))
                let toned =
                    Self.ofRed * color.x + Self.ofGreen * color.y + Self.ofBlue * color.z
                let mixed = color + strength * (toned - color)
                for channel in 0..<3 {
                    pixels[start + channel] = UInt8(min(mixed[channel], 255))
                }
            }
        }
        levels = Image(width: width, height: height, pixels: pixels).gray.firstChannel
    }

    // What red, green and blue add to red, green and blue.
    private static var ofRed: SIMD3<Float> { SIMD3(0.393, 0.349, 0.272) }
    private static var ofGreen: SIMD3<Float> { SIMD3(0.769, 0.686, 0.534) }
    private static var ofBlue: SIMD3<Float> { SIMD3(0.189, 0.168, 0.131) }
}

// MARK: Scratches and dust

extension OldPhoto {
    /// Lines that lean a little, from one height to another.
    private mutating func scratch(_ random: inout RandomStream) {
        for _ in 0..<random.count(upTo: settings.scratchCount) {
            let bottom = random.uniform() * Double(width)
            let lean = 0.05 * random.normal()
            let length = 0.2 + 0.8 * random.uniform()
            let first = Int(random.uniform() * (1 - length) * Double(height))
            let radius = (0.3 + 0.5 * random.uniform()) * unit
            let (level, opacity) = (random.markLevel(), Float(0.3 + 0.6 * random.uniform()))
            let last = min(first + Int(length * Double(height)), height - 1)
            for y in first...max(first, last) {
                mark(
                    y, around: bottom + lean * Double(y), radius: radius, level: level,
                    opacity: opacity)
            }
        }
    }

    /// Round specks.
    private mutating func addDust(_ random: inout RandomStream) {
        for _ in 0..<random.count(upTo: settings.dustCount) {
            let (x, y) = (random.uniform() * Double(width), random.uniform() * Double(height))
            let radius = (0.4 + 2 * random.uniform() * random.uniform()) * unit
            let (level, opacity) = (random.markLevel(), Float(0.4 + 0.6 * random.uniform()))
            let rows = max(Int(y - radius), 0)...min(Int(y + radius + 1), height - 1)
            for row in rows {
                let offset = Double(row) - y
                let square = radius * radius - offset * offset
                guard square > 0 else { continue }
                mark(row, around: x, radius: square.squareRoot(), level: level, opacity: opacity)
            }
        }
    }

    /// Mixes a level into the pixels of a row near a position; pixels that the mark covers partly
    /// are changed partly.
    private mutating func mark(
        _ row: Int, around center: Double, radius: Double, level: Float, opacity: Float
    ) {
        let first = max(Int(center - radius - 1), 0)
        let last = min(Int(center + radius + 1), width - 1)
        guard first <= last else { return }
        for x in first...last {
            let cover = min(max(radius + 0.5 - abs(Double(x) - center), 0), min(2 * radius, 1))
            let index = row * width + x
            levels[index] += Float(cover) * opacity * (level - levels[index])
        }
    }
}

extension RandomStream {
    /// A share of the largest strength, large enough to make a difference: 1/4…1.
    fileprivate mutating func amount() -> Double { 0.25 + 0.75 * uniform() }

    /// 1…most.
    fileprivate mutating func count(upTo most: Int) -> Int {
        1 + Int(next() % UInt64(max(most, 1)))
    }

    /// Scratches and specks are bright if the print is damaged, dark if its negative was.
    fileprivate mutating func markLevel() -> Float {
        uniform() < 0.7 ? Float(215 + 40 * uniform()) : Float(40 * uniform())
    }
}

extension Image {
    /// The levels of red, which equal those of the other channels in a gray image.
    fileprivate var firstChannel: [Float] {
        [Float](unsafeUninitializedCapacity: width * height) { levels, count in
            count = width * height
            for index in 0..<count { levels[index] = Float(pixels[3 * index]) }
        }
    }
}
