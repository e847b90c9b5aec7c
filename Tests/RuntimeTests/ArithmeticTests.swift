import Foundation
import RetintColor
import RetintImages
import Testing

@testable import RetintEngine
@testable import RetintRuntime

/// Networks that multiply in 16 bits give the colors of float32, as far as anyone can see.
@Suite struct ModelArithmeticTests {
    private static let side = 256
    /// The documentation's picture, as Scripts/tools/colorized_sheet.py draws it: below the titles,
    /// a row for each photo: gray, colored by two networks, original.
    private static let (photos, columns, gap, title) = (8, 4, 6, 26)

    @Test(
        arguments: ["lite-class-unet", "lite-class-unet-small"], [Arithmetic.float16, .bfloat16])
    func colorsAreTheSameToTheEye(
        _ checkpoint: String, arithmetic: Arithmetic
    ) throws {
        for products in [CompileOptions.HalfProducts.never, .wherePossible] {
            let mean = try difference(checkpoint, arithmetic, products)
            #expect(mean <= 0.2, "products \(products): a mean difference of \(mean)")
        }
    }

    /// The mean difference of the colors from those of float32, ΔE2000.
    private func difference(
        _ checkpoint: String, _ arithmetic: Arithmetic, _ products: CompileOptions.HalfProducts
    ) throws -> Double {
        var model = try Model(contentsOf: Self.root + "/Checkpoints/\(checkpoint).h5")
        let exact = try model.program(height: Self.side, width: Self.side)
        model.execution.arithmetic = arithmetic
        var options = model.execution.compileOptions
        options.halfProducts = products
        let rounded = try model.program(height: Self.side, width: Self.side, options: options)
        let sheet = try Image(
            contentsOf: Self.root + "/Sources/Retint/Retint/Retint.docc/Resources/colorized.jpg")
        var total = 0.0
        for row in 0..<Self.photos {
            let photo = try lab(fromRGB: Self.photo(row, of: sheet).pixels)
            let colors = try [exact, rounded].map { program in
                let ab = try program.predict(lightness: photo.l)
                return LabPlanes(l: photo.l, a: ab.colorPlane(0), b: ab.colorPlane(1))
            }
            let gray = LabPlanes(
                l: photo.l, a: [Float](repeating: 0, count: photo.l.count),
                b: [Float](repeating: 0, count: photo.l.count))
            let difference = try meanDeltaE2000(colors[0], colors[1])
            // The checkpoints' weights are float16 already.
            switch (arithmetic, products) {
            case (.bfloat16, _): #expect(difference > 0)
            case (_, .never): #expect(difference == 0)
            default: break
            }
            #expect(try meanDeltaE2000(colors[0], gray) > 1)
            total += difference
        }
        return total / Double(Self.photos)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The original photo of a row.
    private static func photo(_ row: Int, of sheet: Image) -> Image {
        let width = (sheet.width + gap) / columns - gap
        let height = (sheet.height - title + gap) / photos - gap
        let (top, left) = (title + row * (height + gap), sheet.width - width)
        var pixels: [UInt8] = []
        for y in top..<top + height {
            let start = 3 * (y * sheet.width + left)
            pixels += sheet.pixels[start..<start + 3 * width]
        }
        return Image(width: width, height: height, pixels: pixels)
            .resized(to: side, height: side)
    }
}
