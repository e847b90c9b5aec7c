import Foundation
import RetintImages

extension String {
    /// The text with the special characters of HTML and XML escaped.
    public var escapedForHTML: String {
        // By scalars: a combining mark makes one Character with the character before it.
        unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text as an attribute or the content of an element of XML 1.0. Line breaks and tabs are
    /// kept as references; a character that XML cannot have becomes U+FFFD.
    package var escapedForXML: String {
        escapedForHTML.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar.value {
            case 0x09, 0x0a, 0x0d: result += "&#\(scalar.value);"
            case 0..<0x20, 0x7f..<0xa0, 0xfffe, 0xffff: result += "\u{fffd}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Image {
    private static let largestSide = 320
    /// A page with many photos stays small, and none shows what JPEG loses.
    private static let quality = 88

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
        return "data:image/jpeg;base64,"
            + Data(try small.encode(.jpeg(quality: Self.quality))).base64EncodedString()
    }
}
