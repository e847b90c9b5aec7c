import RetintPhotoData
import RetintTensors

/// The damage of old photos as numbers that a program is given.
struct DamageNumbers: Hashable {
    /// The most scratches and specks of a crop.
    let scratches, specks: Int
    /// Whether any crop is blurred.
    let hasBlur: Bool

    init(_ settings: OldPhotoSettings) {
        hasBlur = settings.blur > 0
        (scratches, specks) = (max(settings.scratchCount, 1), max(settings.dustCount, 1))
    }

    /// Where the numbers of a crop are.
    enum Place {
        /// 1: damaged.
        static let isDamaged = 0
        static let sepia = 1
        static let contrast = 2
        static let lifted = 3
        /// The samples of a box that count fully on either side, or -1; their weight; that of the
        /// next one.
        static let radius = 4
        static let full = 5
        static let partial = 6
        static let grain = 7
        /// The state of random words: three parts, the lowest first.
        static let words = 8
        static let scratchCount = 11
        static let speckCount = 12
        static let scratches = 13
    }

    /// The bits of a part of a state: numbers below 2²⁴ are exact.
    static let partBits: UInt64 = 22
    /// Its start, lean, first and last row, radius, level and opacity.
    static let scratchLength = 7
    /// Its x, y, radius, level and opacity.
    static let speckLength = 5

    var specksPlace: Int { Place.scratches + Self.scratchLength * scratches }
    /// How many numbers describe the damage of a crop.
    var length: Int { specksPlace + Self.speckLength * specks }

    /// - Parameter damage: without compression; nil: none.
    func numbers(of damage: OldPhotoDamage?) -> [Float] {
        var numbers = [Float](repeating: 0, count: length)
        (numbers[Place.contrast], numbers[Place.radius]) = (1, -1)
        guard let damage else { return numbers }
        precondition(
            !damage.isCompressed && damage.scratches.count <= scratches
                && damage.specks.count <= specks, "this damage has no numbers")
        numbers[Place.isDamaged] = 1
        numbers[Place.sepia] = damage.sepia ?? 0
        if let fading = damage.fading {
            (numbers[Place.contrast], numbers[Place.lifted]) = (fading.contrast, fading.lifted)
        }
        if let blur = damage.blur {
            numbers[Place.radius] = Float(blur.radius)
            (numbers[Place.full], numbers[Place.partial]) = (blur.full, blur.partial)
        }
        if let grain = damage.grain {
            numbers[Place.grain] = grain.deviation
            for part in 0..<3 {
                let bits = grain.words.state >> (UInt64(part) * Self.partBits)
                numbers[Place.words + part] = Float(bits & (1 << Self.partBits - 1))
            }
        }
        numbers[Place.scratchCount] = Float(damage.scratches.count)
        numbers[Place.speckCount] = Float(damage.specks.count)
        for (index, scratch) in damage.scratches.enumerated() {
            let start = Place.scratches + Self.scratchLength * index
            numbers.replaceSubrange(
                start..<start + Self.scratchLength,
                with: [
                    scratch.start, scratch.lean, Float(scratch.rows.lowerBound),
                    Float(scratch.rows.upperBound),
                ] + scratch.mark.numbers)
        }
        for (index, speck) in damage.specks.enumerated() {
            let start = specksPlace + Self.speckLength * index
            numbers.replaceSubrange(
                start..<start + Self.speckLength, with: [speck.x, speck.y] + speck.mark.numbers)
        }
        return numbers
    }

    /// The damage of a crop; nil if it has none.
    func damage(_ numbers: [Float]) -> OldPhotoDamage? {
        guard numbers[Place.isDamaged] != 0 else { return nil }
        var damage = OldPhotoDamage()
        damage.sepia = numbers[Place.sepia] == 0 ? nil : numbers[Place.sepia]
        damage.fading = OldPhotoDamage.Fading(
            contrast: numbers[Place.contrast], lifted: numbers[Place.lifted])
        if numbers[Place.radius] >= 0 {
            damage.blur = BoxFilter(
                passes: OldPhotoDamage.blurPasses, radius: Int(numbers[Place.radius]),
                full: numbers[Place.full], partial: numbers[Place.partial])
        }
        let state = (0..<3).reduce(UInt64(0)) { state, part in
            state | UInt64(numbers[Place.words + part]) << (UInt64(part) * Self.partBits)
        }
        damage.grain = OldPhotoDamage.Grain(
            deviation: numbers[Place.grain], words: RandomStream.Words(state: state))
        damage.scratches = (0..<Int(numbers[Place.scratchCount])).map { index in
            let place = Place.scratches + Self.scratchLength * index
            return OldPhotoDamage.Scratch(
                start: numbers[place], lean: numbers[place + 1],
                rows: Int(numbers[place + 2])...Int(numbers[place + 3]),
                mark: OldPhotoDamage.Mark(numbers[(place + 4)...]))
        }
        damage.specks = (0..<Int(numbers[Place.speckCount])).map { index in
            let place = specksPlace + Self.speckLength * index
            return OldPhotoDamage.Speck(
                x: numbers[place], y: numbers[place + 1],
                mark: OldPhotoDamage.Mark(numbers[(place + 2)...]))
        }
        return damage
    }
}

extension OldPhotoDamage.Mark {
    fileprivate var numbers: [Float] { [radius, level, opacity] }

    fileprivate init(_ numbers: ArraySlice<Float>) {
        let start = numbers.startIndex
        self.init(
            radius: numbers[start], level: numbers[start + 1], opacity: numbers[start + 2])
    }
}
