import Foundation

/// The rules of SARIF 2.1.0 for the objects that a verification's log has: sections 3.13 and
/// following of the OASIS standard, and its JSON schema. They refuse what those do not name.
enum SARIFRules {
    /// What a value must be.
    indirect enum Value {
        case text, number(in: ClosedRange<Int>), level, uriReference
        case object(Object), objects(Object)
        /// Any object whose values are text.
        case texts
    }

    struct Object {
        /// Properties without which the object is invalid.
        var required: [String: Value] = [:]
        var optional: [String: Value] = [:]
    }

    private static let message = Object(required: ["text": .text])

    private static let rule = Object(
        required: ["id": .text],
        optional: [
            "shortDescription": .object(message), "fullDescription": .object(message),
            "help": .object(message),
            "defaultConfiguration": .object(Object(optional: ["level": .level])),
        ])

    private static let location = Object(optional: [
        "physicalLocation": .object(
            Object(optional: [
                "artifactLocation": .object(Object(optional: ["uri": .uriReference])),
                "region": .object(Object(optional: ["startLine": .number(in: 1...Int.max)])),
            ])),
        "logicalLocations": .objects(Object(optional: ["fullyQualifiedName": .text])),
    ])

    private static let result = Object(
        required: ["message": .object(message)],
        optional: [
            "ruleId": .text, "ruleIndex": .number(in: -1...Int.max), "level": .level,
            "locations": .objects(location), "partialFingerprints": .texts,
        ])

    private static let driver = Object(
        required: ["name": .text], optional: ["version": .text, "rules": .objects(rule)])

    private static let run = Object(
        required: ["tool": .object(Object(required: ["driver": .object(driver)]))],
        optional: ["results": .objects(result), "properties": .texts])

    /// A whole log.
    static let log = Object(
        required: ["version": .text, "runs": .objects(run)], optional: ["$schema": .text])
}

extension SARIFRules.Object {
    /// What is wrong with an object, each fault with its path.
    func faults(_ value: Any, at path: String = "log") -> [String] {
        guard let object = value as? [String: Any] else { return ["\(path) is not an object"] }
        let missing = required.keys.filter { object[$0] == nil }.map { "\(path) lacks \($0)" }
        let rules = required.merging(optional) { first, _ in first }
        return missing
            + object.flatMap { key, value in
                rules[key]?.faults(value, at: "\(path).\(key)") ?? ["\(path).\(key) is unknown"]
            }
    }
}

extension SARIFRules.Value {
    fileprivate func faults(_ value: Any, at path: String) -> [String] {
        switch self {
        case .object(let rules): return rules.faults(value, at: path)
        case .objects(let rules):
            guard let list = value as? [Any] else { return ["\(path) is not an array"] }
            return list.enumerated().flatMap { rules.faults($1, at: "\(path)[\($0)]") }
        default: return isMet(by: value) ? [] : ["\(path) is \(value)"]
        }
    }

    private func isMet(by value: Any) -> Bool {
        switch self {
        case .text: value is String
        case .number(let range): (value as? Int).map(range.contains) ?? false
        case .level: ["none", "note", "warning", "error"].contains(value as? String)
        case .uriReference: (value as? String).flatMap { URL(string: $0) } != nil
        case .texts: value is [String: String]
        case .object, .objects: false
        }
    }
}
