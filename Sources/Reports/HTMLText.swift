import Foundation
import ImageIO

extension String {
    /// The text with the special characters of HTML and XML escaped.
    package var escapedForHTML: String {
        reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}

extension Image {
    private static let largestSide = 320

    /// The image as a data URI, scaled down to the size of a page.
    package func dataURI() throws -> String {
        let side = max(width, height)
        let factor = Double(Self.largestSide) / Double(side)
        let small =
            factor >= 1
            ? self
            : resized(
                to: max(Int(Double(width) * factor), 1),
                height: max(Int(Double(height) * factor), 1))
        return "data:image/png;base64,"
            + Data(try small.encode(.png(level: 6))).base64EncodedString()
    }
}
