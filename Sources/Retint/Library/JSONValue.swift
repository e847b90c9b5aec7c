import Foundation

/// A value of JSON that the C interface passes.
enum JSONValue: Sendable {
    case text(String)
    case integer(Int)
    case list([JSONValue])
    case object([String: JSONValue])
    /// JSON that is already text.
    case encoded(String)

    var text: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .integer(let value): "\(value)"
        case .list(let values): "[\(values.map(\.text).joined(separator: ", "))]"
        case .object(let values):
            "{"
                + values.sorted { $0.key < $1.key }.map { "\(Self.quoted($0)): \($1.text)" }
                .joined(separator: ", ") + "}"
        case .encoded(let text): text
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20:
                result += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

/// Reads what a caller passes as JSON.
///
/// - Returns: nil if it is not JSON of that form.
func decode<Value: Decodable>(_: Value.Type, _ text: UnsafePointer<CChar>?) -> Value? {
    guard let text, let string = String(validatingCString: text) else { return nil }
    return try? JSONDecoder().decode(Value.self, from: Data(string.utf8))
}
