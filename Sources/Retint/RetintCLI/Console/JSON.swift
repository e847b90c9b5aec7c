import Foundation

extension Console {
    /// Prints a value as one JSON object: keys sorted and in snake_case, `null` for infinity and
    /// NaN, such as the PSNR of equal images.
    static func printJSON(_ value: some Encodable) throws {
        printLines(try json(value))
    }

    static func json(_ value: some Encodable) throws -> String {
        let mark = "\u{fffd}not a number\u{fffd}"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: mark, negativeInfinity: mark, nan: mark)
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return text.replacingOccurrences(of: "\"\(mark)\"", with: "null").escapedForJSON
    }
}
