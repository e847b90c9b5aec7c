import RetintTensors

/// The damage that a photo of a size gets: all that is drawn at random. Its numbers are `Float`s,
/// so that every device can be given them.
package struct OldPhotoDamage: Hashable, Sendable {
    /// A loss of contrast.
    package struct Fading: Hashable, Sendable {
        /// Levels are multiplied by `contrast`, and lifted.
        package var contrast, lifted: Float

        package init(contrast: Float, lifted: Float) {
            (self.contrast, self.lifted) = (contrast, lifted)
        }
    }

    /// Noise.
    package struct Grain: Hashable, Sendable {
        /// Its standard deviation, in levels of 255.
        package var deviation: Float
        /// Of the random words of pixels.
        package var words: RandomStream.Words

        package init(deviation: Float, words: RandomStream.Words) {
            (self.deviation, self.words) = (deviation, words)
        }
    }

    /// A line that leans a little, from one row to another.
    package struct Scratch: Hashable, Sendable {
        /// The position in row 0, and its change from row to row, in pixels.
        package var start, lean: Float
        package var rows: ClosedRange<Int>
        package var mark: Mark

        package init(start: Float, lean: Float, rows: ClosedRange<Int>, mark: Mark) {
            (self.start, self.lean, self.rows, self.mark) = (start, lean, rows, mark)
        }
    }

    /// A round speck.
    package struct Speck: Hashable, Sendable {
        /// The position of its center, in pixels.
        package var x, y: Float
        package var mark: Mark

        package init(x: Float, y: Float, mark: Mark) {
            (self.x, self.y, self.mark) = (x, y, mark)
        }
    }

    /// How a scratch or a speck changes what it covers.
    package struct Mark: Hashable, Sendable {
        /// In pixels.
        package var radius: Float
        /// What is mixed into the photo, 0…255, and the share of it.
        package var level, opacity: Float

        package init(radius: Float, level: Float, opacity: Float) {
            (self.radius, self.level, self.opacity) = (radius, level, opacity)
        }
    }

    /// The share of the toned colors; nil: not toned.
    package var sepia: Float?
    /// The loss of contrast, if any.
    package var fading: Fading?
    /// The filter that blurs the photo, if any.
    package var blur: BoxFilter?
    /// The noise, if any.
    package var grain: Grain?
    /// The scratches, in the order in which they cover each other.
    package var scratches: [Scratch] = []
    /// The specks, in the order in which they cover each other, above the scratches.
    package var specks: [Speck] = []
    /// The quality of JPEG; nil: not compressed.
    package var jpegQuality: Int?

    /// The passes of a box that blur a photo.
    package static let blurPasses = 3

    package var isEmpty: Bool { self == OldPhotoDamage() }
    /// Whether it needs a codec.
    package var isCompressed: Bool { jpegQuality != nil }

    /// No damage.
    package init() {}
}

extension OldPhotoDamage {
    /// Draws the damage of a photo. Each kind has its own random numbers, so that turning one on
    /// does not change the others.
    ///
    /// - Parameters:
    ///   - settings: the kinds of damage.
    ///   - size: of the photo.
    ///   - seed: together with `name` it determines the damage, on any machine.
    ///   - name: distinguishes the photos of one seed.
    package init(
        _ settings: OldPhotoSettings, of size: (width: Int, height: Int), seed: UInt64,
        name: String
    ) {
        // A pixel of a photo whose shorter side has 256 pixels, in pixels of this one.
        let unit = Double(min(size.width, size.height)) / 256
        for damage in OldPhotoSettings.Damage.allCases where settings[damage] > 0 {
            var random = RandomStream(seed: seed, name: "old photo \(damage) \(name)")
            guard random.uniform() < settings[damage] else { continue }
            switch damage {
            case .sepia: sepia = Float(settings.sepiaStrength)
            case .fading: fading = Fading(settings, &random)
            case .blur:
                let deviation = settings.blurDeviation * random.amount() * unit
                blur = BoxFilter(deviation: deviation, passes: Self.blurPasses)
            case .grain:
                let deviation = Float(settings.grainDeviation * random.amount())
                grain = Grain(deviation: deviation, words: random.words)
            case .scratches:
                scratches = (0..<random.count(upTo: settings.scratchCount)).map { _ in
                    Scratch(size, unit, &random)
                }
            case .dust:
                specks = (0..<random.count(upTo: settings.dustCount)).map { _ in
                    Speck(size, unit, &random)
                }
            case .jpeg:
                let quality = max(settings.jpegQuality, 1) + Int(random.next() % 31)
                jpegQuality = min(quality, 100)
            }
        }
    }
}

extension OldPhotoDamage.Fading {
    /// Fades blacks more than whites.
    fileprivate init(_ settings: OldPhotoSettings, _ random: inout RandomStream) {
        let loss = Float(settings.fadingStrength * random.amount())
        lifted = 255 * loss * Float(0.5 + 0.5 * random.uniform())
        contrast = 1 - loss
    }
}

extension OldPhotoDamage.Grain {
    /// Of a pixel: the sum of eight uniform numbers of 16 bits, which is close to normal and exact
    /// on any device.
    package func noise(ofPixel index: Int) -> Float {
        let first = words[2 * UInt64(index)], second = words[2 * UInt64(index) + 1]
        var sum = 0
        for shift in stride(from: 0 as UInt64, to: 64, by: 16) {
            sum += Int(first >> shift & 0xffff) + Int(second >> shift & 0xffff)
        }
        return deviation * (Float(sum - Self.mean) * Self.scale)
    }

    /// The mean of that sum, and 1 divided by its standard deviation, √(8 · (65536² − 1) / 12).
    package static let mean = 8 * 65535 / 2
    package static let scale: Float = 1.868_812_4e-5
}

extension OldPhotoDamage.Scratch {
    fileprivate init(
        _ size: (width: Int, height: Int), _ unit: Double, _ random: inout RandomStream
    ) {
        start = Float(random.uniform() * Double(size.width))
        lean = Float(0.05 * random.normal())
        let length = 0.2 + 0.8 * random.uniform()
        let first = Int(random.uniform() * (1 - length) * Double(size.height))
        let radius = Float((0.3 + 0.5 * random.uniform()) * unit)
        let level = random.markLevel()
        mark = OldPhotoDamage.Mark(
            radius: radius, level: level, opacity: Float(0.3 + 0.6 * random.uniform()))
        let last = min(first + Int(length * Double(size.height)), size.height - 1)
        rows = first...max(first, last)
    }
}

extension OldPhotoDamage.Speck {
    fileprivate init(
        _ size: (width: Int, height: Int), _ unit: Double, _ random: inout RandomStream
    ) {
        x = Float(random.uniform() * Double(size.width))
        y = Float(random.uniform() * Double(size.height))
        let radius = Float((0.4 + 2 * random.uniform() * random.uniform()) * unit)
        let level = random.markLevel()
        mark = OldPhotoDamage.Mark(
            radius: radius, level: level, opacity: Float(0.4 + 0.6 * random.uniform()))
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
