import RetintFiles
import RetintMLPackage

/// A fault that the converter of a file has, and the operations it may concern.
public struct ConverterFinding: Hashable, Sendable, Encodable {
    /// How much the program says about a fault.
    public enum Certainty: String, Sendable, Encodable {
        /// These operations have the form that only the fault produces.
        case present
        /// Right programs have such operations, too: what is missing cannot be seen.
        case possible
    }

    /// The fault.
    public let fault: ConverterFault
    /// The version that the file states.
    public let version: String
    /// Whether the operations are wrong, or may be.
    public let certainty: Certainty
    /// The names of the operations' results, in the order of the program.
    public let operations: [String]

    /// - Returns: nil if there are no operations.
    package init?(
        _ fault: ConverterFault, _ version: String, _ certainty: Certainty, _ operations: [String]
    ) {
        guard !operations.isEmpty else { return nil }
        (self.fault, self.version) = (fault, version)
        (self.certainty, self.operations) = (certainty, operations)
    }

    /// A sentence about the fault and the way out.
    public var warning: String {
        let verb = certainty == .present ? "converts" : "may have converted"
        return "\(fault.converter) \(version) \(verb) \(fault.operation) wrongly "
            + "(\(operations.listed())): with \(fault.condition), \(fault.consequence). "
            + fault.advice
    }
}

extension ConverterFinding {
    /// The key under which coremltools states its version.
    private static let versionKey = "com.github.apple.coremltools.version"

    /// The faults that the operations of a package may have; none if the package does not state
    /// that an affected version of a converter wrote it.
    public static func findings(in package: MLPackage) -> [ConverterFinding] {
        guard let version = package.metadata.userDefined[versionKey] else { return [] }
        let faults = ConverterFault.known(of: "coremltools", version)
        guard !faults.isEmpty else { return [] }
        let context = PlacedOperation.Context(package.program)
        let operations = package.program.operations.filter { !$0.isConstant }.map {
            PlacedOperation(operation: $0, context: context)
        }
        return faults.compactMap { fault in
            guard let sign = ConverterFault.signs[fault.id] else { return nil }
            return ConverterFinding(
                fault, version, sign.certainty, operations.filter(sign.matches).map(\.name))
        }
    }
}
