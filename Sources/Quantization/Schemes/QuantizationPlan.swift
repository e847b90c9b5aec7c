import Foundation
import MIL
import MLPackage

/// Which weights of a package become what: one scheme for all, and others for some operations.
public struct QuantizationPlan: Hashable, Sendable {
    /// For a weight of which nothing else is said; nil leaves it alone.
    public var standard: QuantizationScheme?
    /// By the type of the operation that takes the weight: `conv`, `conv_transpose`, `matmul`.
    public var byType: [String: QuantizationScheme?] = [:]
    /// By the name of the weight, or of the operation that takes it. Names may be patterns with `*`,
    /// `?` and `[…]`; the name itself takes precedence, then a longer pattern.
    public var byName: [String: QuantizationScheme?] = [:]

    /// Why weights are left alone, where there is more to be said than that they are to be.
    var reasons: [String: String] = [:]

    func reason(forLeavingAlone weight: String) -> String {
        reasons[weight] ?? "it is to be left alone"
    }

    public init(_ standard: QuantizationScheme?) {
        self.standard = standard
    }

    /// The scheme whose deployment target is the latest; nil if the plan has none.
    var mostDemanding: QuantizationScheme? {
        schemes.sorted { "\($0)" < "\($1)" }.max { $0.firstTarget < $1.firstTarget }
    }

    /// All schemes of the plan.
    private var schemes: [QuantizationScheme] {
        ([standard] + byType.values + byName.values).compactMap { $0 }
    }

    private func fits(_ pattern: String, _ names: [String]) -> Bool {
        names.contains { fnmatch(pattern, $0, 0) == 0 }
    }

    /// - Throws: `ConversionError` for choices that do not go together or with the package's
    ///   system, and for a name or a type that no weight of the package has.
    func check(_ package: MLPackage) throws {
        for scheme in schemes { try scheme.check(package.target) }
        let weights = package.weights
        let types = Set(weights.map(\.type))
        let unknown =
            byType.keys.filter { !types.contains($0) }
            + byName.keys.filter { pattern in
                !weights.contains { fits(pattern, $0.names) }
            }
        guard let first = unknown.min() else { return }
        var error = ConversionError(
            place: first,
            rule: "no weight of the package is called so or taken by such an operation",
            remedy: "Types are \(types.sorted().joined(separator: ", ")); names are such as "
                + "\(weights.prefix(3).map(\.name).joined(separator: ", ")).")
        error.cause = .option
        throw error
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
            fits(pattern, names)
        }
        if let pattern = matching.max(by: { ($0.count, $1) < ($1.count, $0) }) {
            return byName[pattern] ?? nil
        }
        return byType[type] ?? standard
    }
}
