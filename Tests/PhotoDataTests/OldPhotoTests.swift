import RetintImages
import RetintPhotoData
import Testing

@Suite struct OldPhotoTests {
    private typealias Damage = OldPhotoSettings.Damage

    /// Stripes of gray with a colored half.
    private static let photo = Image(
        width: 80, height: 64,
        pixels: (0..<64).flatMap { y in
            (0..<80).flatMap { x -> [UInt8] in
                let level = UInt8(40 + 20 * (x / 10))
                return y < 32 ? [level, level, level] : [level, 90, 60]
            }
        })

    private func aged(_ damage: [Damage], name: String = "1", seed: UInt64 = 3) throws -> Image {
        let settings = OldPhotoSettings(damage)
        return try #require(try Self.photo.asOldPhoto(settings, seed: seed, name: name))
    }

    @Test(arguments: Damage.allCases)
    private func damageDependsOnSeedAndNameAlone(_ damage: Damage) throws {
        let image = try aged([damage])
        #expect(try aged([damage]) == image && image != Self.photo.gray)
        #expect(image.width == 80 && image.height == 64)
        #expect(image.gray == image)
        // Toning draws no random numbers.
        guard damage != .sepia else { return }
        #expect(try aged([damage], name: "2") != image)
        #expect(try aged([damage], seed: 4) != image)
    }

    @Test func damageHappensToItsShare() throws {
        var settings = OldPhotoSettings()
        #expect(try Self.photo.asOldPhoto(settings, seed: 1, name: "") == nil)
        settings.fading = 0.25
        let count = try (0..<200).count {
            try Self.photo.asOldPhoto(settings, seed: 1, name: "\($0)") != nil
        }
        #expect((30...70).contains(count))
    }

    /// One kind of damage leaves the random numbers of another as they were.
    @Test func kindsOfDamageAreIndependent() throws {
        var settings = OldPhotoSettings([.fading])
        let faded = try (0..<20).map {
            try Self.photo.asOldPhoto(settings, seed: 1, name: "\($0)")
        }
        settings.grain = 0.5
        let both = try (0..<20).map {
            try Self.photo.asOldPhoto(settings, seed: 1, name: "\($0)")
        }
        let equal = zip(faded, both).count { $0 == $1 }
        #expect((4...16).contains(equal))
    }

    private func levels(_ image: Image) -> [Double] {
        stride(from: 0, to: image.pixels.count, by: 3).map { Double(image.pixels[$0]) }
    }

    private func deviation(_ values: [Double]) -> Double {
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (squares / Double(values.count)).squareRoot()
    }

    @Test func fadingLiftsBlacksAndLosesContrast() throws {
        let (before, after) = (levels(Self.photo.gray), levels(try aged([.fading])))
        let contrast = deviation(after) / deviation(before)
        #expect(contrast > 0.49 && contrast < 0.9)
        #expect(after.min()! > before.min()! + 5 && after.max()! <= 255)
    }

    @Test func grainHasItsDeviation() throws {
        var settings = OldPhotoSettings([.grain])
        settings.grainDeviation = 30
        let gray = Image(width: 64, height: 64, red: 128, green: 128, blue: 128)
        let deviations = try (0..<40).map {
            deviation(levels(try #require(try gray.asOldPhoto(settings, seed: 1, name: "\($0)"))))
        }
        #expect(deviations.min()! > 0.24 * 30 && deviations.max()! < 1.03 * 30)
        #expect(deviations.max()! > 0.8 * 30)
    }

    @Test func blurSmoothsEdges() throws {
        var settings = OldPhotoSettings([.blur])
        func steepest(_ deviation: Double) throws -> Double {
            settings.blurDeviation = deviation
            let edge = Image(
                width: 256, height: 256,
                pixels: (0..<65536).flatMap { index in
                    [UInt8](repeating: index % 256 < 128 ? 0 : 200, count: 3)
                })
            let blurred = levels(try #require(try edge.asOldPhoto(settings, seed: 2, name: "")))
            return zip(blurred.dropFirst(), blurred).map { $0 - $1 }.prefix(255).max()!
        }
        let (slight, strong) = (try steepest(1), try steepest(8))
        #expect(slight < 200 && strong < slight / 2)
        // A Gaussian's steepest step is the height over √(2π)·σ, with σ of at least a quarter.
        #expect(strong > 200 / (2.51 * 8) * 0.9)
    }

    @Test func marksCoverSmallParts() throws {
        let before = Self.photo.gray
        for damage in [Damage.scratches, .dust] {
            let changed = zip(levels(before), levels(try aged([damage]))).count { $0 != $1 }
            #expect(changed > 5 && changed < 64 * 80 / 2, "\(damage): \(changed)")
        }
    }

    /// CSS's matrix: pure red becomes (100, 89, 69), white stays within the range.
    @Test func toningIsThatOfCSS() throws {
        let settings = OldPhotoSettings([.sepia])
        func toned(_ red: UInt8, _ green: UInt8, _ blue: UInt8) throws -> Image {
            let image = Image(width: 2, height: 2, red: red, green: green, blue: blue)
            return try #require(try image.asOldPhoto(settings, seed: 1, name: ""))
        }
        let expected = Image(width: 2, height: 2, red: 100, green: 88, blue: 69).gray
        #expect(try toned(255, 0, 0) == expected)
        #expect(try toned(255, 255, 255).pixels[0] > 245)
    }

    @Test func settingsOutOfRangeDoNotTrap() throws {
        var settings = OldPhotoSettings(Damage.allCases)
        (settings.scratchCount, settings.dustCount, settings.jpegQuality) = (0, -3, 400)
        (settings.blurDeviation, settings.grainDeviation) = (0, 1e9)
        #expect(try Self.photo.asOldPhoto(settings, seed: 1, name: "") != nil)
        let dot = Image(width: 1, height: 1, red: 9, green: 9, blue: 9)
        #expect(try dot.asOldPhoto(OldPhotoSettings(Damage.allCases), seed: 1, name: "") != nil)
    }
}
