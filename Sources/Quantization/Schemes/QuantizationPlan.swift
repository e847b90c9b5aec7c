/// Which weights of a package become what: one scheme for all, and others for some operations.
public struct QuantizationPlan: Hashable, Sendable {
    /// For a weight of which nothing else is said; nil leaves it alone.
    public var standard: QuantizationScheme?
    /// By the type of the operation that takes the weight: `conv`, `conv_transpose`, `matmul`.
    public var byType: [String: QuantizationScheme?] = [:]
    /// By the name of the weight, or of the operation that takes it. A name may have `*` for any
    /// characters; a name without takes precedence, then a longer one.
    public var byName: [String: QuantizationScheme?] = [:]

    public init(_ standard: QuantizationScheme?) {
        self.standard = standard
    }

    /// All that are asked for anywhere.
    var schemes: [QuantizationScheme] {
        ([standard] + byType.values + byName.values).compactMap { $0 }
    }

    /// What a weight becomes.
    ///
    /// - Parameters:
    ///   - names: of the weight and of an operation that takes it.
    ///   - type: of that operation.
    func scheme(names: [String], type: String) -> QuantizationScheme? {
        for name in names {
            if let exact = byName[name] { return exact }
        }
        let matching = byName.keys.filter { pattern in
            names.contains { matches($0, pattern: pattern) }
        }
        if let pattern = matching.max(by: { ($0.count, $1) < ($1.count, $0) }) {
            return byName[pattern] ?? nil
        }
        return byType[type] ?? standard
    }
}

/// Whether a name is what a pattern says, in which `*` stands for any characters.
func matches(_ name: String, pattern: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else {
        return name == pattern
    }
    guard name.hasPrefix(first) else { return false }
    var rest = name.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
        guard let found = rest.firstRange(of: part) else { return false }
        rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(last)
}
