import Foundation
import RetintMIL
import RetintMLPackage

/// The scheme of each weight of a package: a default, and exceptions by operation type or name.
public struct QuantizationPlan: Hashable, Sendable {
    /// The default scheme; nil leaves weights uncompressed.
    public var standard: QuantizationScheme?
    /// Schemes by the type of the operation that uses the weight: `conv`, `conv_transpose`,
    /// `matmul`. A nil scheme leaves these weights uncompressed.
    public var byType: [String: QuantizationScheme?] = [:]
    /// Schemes by the name of the weight or of an operation that uses it. Names may be patterns
    /// with `*`, `?` and `[…]`. An exact name takes precedence over patterns, and a longer pattern
    /// over a shorter one. A nil scheme leaves these weights uncompressed.
    public var byName: [String: QuantizationScheme?] = [:]

    /// Reasons for weights that the plan excludes, by weight name, if there is a specific one.
    var reasons: [String: String] = [:]

    func reason(forExcluding weight: String) -> String {
        reasons[weight] ?? "the plan excludes it"
    }

    /// A plan with one scheme for all weights; nil for none.
    public init(_ standard: QuantizationScheme?) {
        self.standard = standard
    }

    /// The scheme that needs the latest deployment target; nil if the plan has no schemes.
    var mostDemanding: QuantizationScheme? {
        schemes.sorted { "\($0)" < "\($1)" }.max { $0.firstTarget < $1.firstTarget }
    }

    /// All schemes that the plan may apply.
    private var schemes: [QuantizationScheme] {
        ([standard] + byType.values + byName.values).compactMap { $0 }
    }

    private func matches(_ pattern: String, _ names: [String]) -> Bool {
        names.contains { fnmatch(pattern, $0, 0) == 0 }
    }

    /// Checks the plan against a package.
    ///
    /// - Throws: `ConversionError` for a scheme that is inconsistent or that the package's
    ///   deployment target does not support, and for a name or type that matches no weight of the
    ///   package.
    func check(_ package: MLPackage) throws {
        for scheme in schemes { try scheme.check(package.target) }
        let weights = package.weights
        let types = Set(weights.map(\.type))
        let unknown =
            byType.keys.filter { !types.contains($0) }
            + byName.keys.filter { pattern in
                !weights.contains { matches(pattern, $0.names) }
            }
        guard let first = unknown.min() else { return }
        var error = ConversionError(
            place: first,
            rule: "no weight or operation of the package has this name or type",
            remedy: "The types are \(types.sorted().joined(separator: ", ")); names are such as "
                + "\(weights.prefix(3).map(\.name).joined(separator: ", ")).")
        error.kind = .option
        throw error
    }

    /// The scheme of a weight; nil to leave it uncompressed.
    ///
    /// - Parameters:
    ///   - names: the names of the weight and of the operations that use it.
    ///   - type: the type of the operation that uses it.
    func scheme(names: [String], type: String) -> QuantizationScheme? {
        for name in names {
            if let exact = byName[name] { return exact }
        }
        let matching = byName.keys.filter { pattern in
            matches(pattern, names)
        }
        if let pattern = matching.max(by: { ($0.count, $1) < ($1.count, $0) }) {
            return byName[pattern] ?? nil
        }
        return byType[type] ?? standard
    }
}
