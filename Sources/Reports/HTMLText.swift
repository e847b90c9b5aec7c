import Foundation
import ImageIO

extension String {
    /// The text as HTML and XML have it.
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

    /// The picture as a data URI, not larger than a page needs it.
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
