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
        let damage = OldPhotoDamage(settings, of: (width, height), seed: seed, name: name)
        return damage.isEmpty ? nil : try damaged(by: damage)
    }

    /// A gray copy with damage.
    ///
    /// - Throws: `ImageError` if the photo is too large for JPEG compression.
    package func damaged(by damage: OldPhotoDamage) throws(ImageError) -> Image {
        // In the order in which it occurs in reality.
        var photo = OldPhoto(damage.sepia.map { toned($0) } ?? self)
        if let fading = damage.fading { photo.fade(fading) }
        if let filter = damage.blur { photo.blur(filter) }
        if let grain = damage.grain { photo.add(grain) }
        for scratch in damage.scratches { photo.add(scratch) }
        for speck in damage.specks { photo.add(speck) }
        if let quality = damage.jpegQuality { try photo.compress(quality) }
        return photo.image
    }
}

/// A gray photo that gets damage.
private struct OldPhoto {
    private let width, height: Int
    /// Gray levels, 0…255, row by row.
    private var levels: [Float]

    init(_ photo: Image) {
        (width, height) = (photo.width, photo.height)
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

    mutating func fade(_ fading: OldPhotoDamage.Fading) {
        levels = levels.map { fading.lifted + $0 * fading.contrast }
    }

    mutating func blur(_ filter: BoxFilter) {
        for _ in 0..<filter.passes {
            filter.blurRows(of: &levels, width: width, height: height)
            filter.blurColumns(of: &levels, width: width, height: height)
        }
    }

    /// Noise of constant strength, like video developed to normal contrast.
    mutating func add(_ grain: OldPhotoDamage.Grain) {
        levels.withUnsafeMutableBufferPointer { levels in
            for index in levels.indices { levels[index] += grain.noise(ofPixel: index) }
        }
    }

    mutating func compress(_ quality: Int) throws(ImageError) {
        let bytes = try image.encode(.jpeg(quality: quality))
        levels = try Image(data: bytes, name: "the compressed copy").firstChannel
    }
}

// MARK: Toning

extension Image {
    /// The sepia tone of CSS (W3C, "Filter Effects Module Level 1").
    fileprivate func toned(_ strength: Float) -> Image {
        var pixels = pixels
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
        return Image(width: width, height: height, pixels: pixels)
    }

    // What red, green and blue add to red, green and blue.
    private static var ofRed: SIMD3<Float> { SIMD3(0.393, 0.349, 0.272) }
    private static var ofGreen: SIMD3<Float> { SIMD3(0.769, 0.686, 0.534) }
    private static var ofBlue: SIMD3<Float> { SIMD3(0.189, 0.168, 0.131) }
}

// MARK: Scratches and dust

extension OldPhoto {
    mutating func add(_ scratch: OldPhotoDamage.Scratch) {
        for y in scratch.rows {
            mark(
                y, around: scratch.start + scratch.lean * Float(y), radius: scratch.mark.radius,
                scratch.mark)
        }
    }

    mutating func add(_ speck: OldPhotoDamage.Speck) {
        let radius = speck.mark.radius
        let end = min(Int(speck.y + radius + 2), height)
        for row in min(max(Int(speck.y - radius), 0), end)..<end {
            let offset = Float(row) - speck.y
            let square = radius * radius - offset * offset
            guard square > 0 else { continue }
            mark(row, around: speck.x, radius: square.squareRoot(), speck.mark)
        }
    }

    /// Mixes a level into the pixels of a row near a position; pixels that the mark covers partly
    /// are changed partly.
    private mutating func mark(
        _ row: Int, around center: Float, radius: Float, _ mark: OldPhotoDamage.Mark
    ) {
        let first = max(Int(center - radius - 1), 0)
        let last = min(Int(center + radius + 1), width - 1)
        guard first <= last else { return }
        for x in first...last {
            let cover = min(max(radius + 0.5 - abs(Float(x) - center), 0), min(2 * radius, 1))
            let index = row * width + x
            levels[index] += cover * mark.opacity * (mark.level - levels[index])
        }
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
