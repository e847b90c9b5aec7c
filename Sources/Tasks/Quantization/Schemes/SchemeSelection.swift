import Glibc
import RetintMIL
import RetintMLPackage

/// Which scheme each part of a package gets: a default, and exceptions by operation type or name.
public struct SchemeSelection<Scheme: Hashable & Sendable>: Hashable, Sendable {
    /// The default scheme; nil leaves parts as they are.
    public var standard: Scheme?
    /// Schemes by operation type: `conv`, `conv_transpose`, `matmul`. A nil scheme leaves these
    /// parts as they are.
    public var byType: [String: Scheme?] = [:]
    /// Schemes by name. Names may be patterns with `*`, `?` and `[…]`. An exact name takes
    /// precedence over patterns, and a longer pattern over a shorter one. A nil scheme leaves these
    /// parts as they are.
    public var byName: [String: Scheme?] = [:]

    /// One scheme for all parts; nil for none.
    public init(_ standard: Scheme? = nil) {
        self.standard = standard
    }

    /// All schemes that may be applied.
    var all: [Scheme] { ([standard] + byType.values + byName.values).compactMap { $0 } }

    /// The scheme of a part; nil to leave it as it is.
    ///
    /// - Parameters:
    ///   - names: the names of the part.
    ///   - type: the type of its operation.
    ///   - isStandard: whether the part gets ``standard`` if it has no scheme of its own.
    func scheme(names: [String], type: String, isStandard: Bool = true) -> Scheme? {
        for name in names {
            if let exact = byName[name] { return exact }
        }
        let matching = byName.keys.filter { matches($0, names) }
        if let pattern = matching.max(by: { ($0.count, $1) < ($1.count, $0) }) {
            return byName[pattern] ?? nil
        }
        if let scheme = byType[type] { return scheme }
        return isStandard ? standard : nil
    }

    /// Checks that each name and type is one of the package's.
    ///
    /// - Parameters:
    ///   - parts: the names and the types of all parts.
    ///   - noun: what a part is, as in `weight or operation`.
    /// - Throws: `ConversionError` for a name or type that no part has.
    func check(against parts: [(names: [String], type: String)], _ noun: String) throws {
        let types = Set(parts.map(\.type))
        let unknown =
            byType.keys.filter { !types.contains($0) }
            + byName.keys.filter { pattern in !parts.contains { matches(pattern, $0.names) } }
        guard let first = unknown.min() else { return }
        throw ConversionError.option(
            first, "no \(noun) of the package has this name or type",
            "The types are \(types.sorted().joined(separator: ", ")); names are such as "
                + "\(parts.prefix(3).compactMap(\.names.first).joined(separator: ", ")).")
    }

    private func matches(_ pattern: String, _ names: [String]) -> Bool {
        names.contains { fnmatch(pattern, $0, 0) == 0 }
    }
}
