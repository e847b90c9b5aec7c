import Foundation

extension Console {
    /// Prints a value as one JSON object: keys sorted, in snake_case, and `null` for numbers that
    /// are infinite or undefined, such as the PSNR of equal pictures.
    package static func printJSON(_ value: some Encodable) throws {
        print(try json(value))
    }

    package static func json(_ value: some Encodable) throws -> String {
        let mark = "\u{fffd}not a number\u{fffd}"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: mark, negativeInfinity: mark, nan: mark)
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return text.replacingOccurrences(of: "\"\(mark)\"", with: "null")
    }
}
